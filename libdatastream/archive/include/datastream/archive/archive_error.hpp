#pragma once
/// Why an archive cannot do what it was asked to do.

#include <compare>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace datastream {

/// A frame's place in one archive: from 1, in the order in which frames were stored there, over all
/// streams. Of no meaning in another archive. 0: nothing yet.
struct Sequence {
  std::uint64_t value = 0;
  friend auto operator<=>(const Sequence&, const Sequence&) = default;
};

std::ostream& operator<<(std::ostream& out, Sequence sequence);

/// Sequences `first` to `last`, inclusive.
struct SequenceRange {
  Sequence first;
  Sequence last;

  std::uint64_t count() const { return last.value - first.value + 1; }
  friend bool operator==(const SequenceRange&, const SequenceRange&) = default;
};

struct ArchiveError {
  enum class Kind {
    not_an_archive, ///< there is no archive at that path
    unsupported,    ///< written by a later version of this library
    locked,         ///< another process, or this one, has the archive open for writing
    io,             ///< the system refused an operation
    no_room,        ///< the file system is full
    damaged,        ///< bytes are not what was written; `lost` says which frames that concerns
    missing,        ///< a segment is not there; `lost` says which frames that concerns
    metadata_ahead, ///< the index, or the tip, speaks of frames that no segment has
    bad_cursor,     ///< a sequence that this archive has not given out
    unknown_stream, ///< the archive has nothing of this stream
    stopped,        ///< the archive takes nothing any more, because of an earlier error
    bad_input,      ///< what was given, to be imported or as an option, cannot be used
  };
  Kind kind;
  std::string message; ///< for people: names file, offset and, where there is one, the remedy
  /// Frames that cannot be read because of this, exactly.
  std::optional<SequenceRange> lost;
  friend bool operator==(const ArchiveError&, const ArchiveError&) = default;
};

std::string_view to_string(ArchiveError::Kind kind);
std::ostream& operator<<(std::ostream& out, const ArchiveError& error);

} // namespace datastream
