#pragma once
/// One stream of an archive, by position, for views.

#include <datastream/archive/archive_error.hpp>
#include <datastream/ingest/gap.hpp>
#include <datastream/ingest/stored_stream.hpp>
#include <datastream/model/frame.hpp>
#include <datastream/model/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <vector>

namespace datastream {

/// Thrown by a range over an archive when what it needs cannot be read: a range has no other way
/// to say that it has not simply ended.
class ArchiveReadFailed : public std::runtime_error {
public:
  explicit ArchiveReadFailed(ArchiveError error)
      : std::runtime_error(error.message), error_(std::move(error)) {}
  const ArchiveError& error() const noexcept { return error_; }

private:
  ArchiveError error_;
};

/// The frames of one stream in position order, read block by block while one walks. Views take it
/// as they take a `StoredStream`:
///
///     auto stream = reader.stream(id);
///     for (const LogEntry& entry : merged_log(*stream))
///       std::cout << entry << '\n';
///
/// Memory: 80 bytes for each segment that has frames of the stream, and as many as it was told in
/// `without` for each range that is lost. While it is read, lists of the blocks of segments, 48
/// bytes a block, up to `defaults::archive_stream_blocks_bytes` and at least one; what a walk has
/// used up is let go. A walk has 24 bytes for each segment before it, and 56 for each block whose
/// positions reach from before to behind its place: one or two unless frames arrived far out of
/// order. What it has read of them is kept up to `defaults::archive_view_bytes`, and at least the
/// block that is walked through. What was let go is read again when it is needed, which takes time.
///
/// Errors: iterators throw `ArchiveReadFailed`, and everything `std::bad_alloc`. A segment whose
/// index can no longer be read, or is not what it was when the stream was opened, costs everything
/// that it had of the stream, from where somebody gets to it: the error names its sequences.
/// `ArchiveReader::stream` then finds what is left of it.
///
/// Ownership: ranges and iterators keep what they need; a frame lives until its iterator moves on,
/// and a name or text taken from it no longer. Thread safety: const
/// functions may run concurrently with each other.
class ArchivedStream {
public:
  class Iterator;
  class Frames;

  const StreamId& id() const noexcept;
  /// Frames stored, also those that a position has twice, of which only the first is shown.
  std::uint64_t size() const noexcept;
  bool empty() const noexcept { return size() == 0; }
  std::optional<Position> first() const noexcept;
  std::optional<Position> last() const noexcept;

  Frames frames() const;
  /// Those at `position` and above.
  Frames frames_from(Position position) const;

  /// The frame at a position, if it is stored. Reads at most the blocks that may have it.
  std::expected<std::optional<Frame>, ArchiveError> at(Position position) const;

  /// Copies a part into memory, where every view works on it: frames at `lowest` to `highest`.
  std::expected<StoredStream, ArchiveError> load(Position lowest, Position highest) const;
  /// The same for the last `count` frames.
  std::expected<StoredStream, ArchiveError> load_last(std::size_t count) const;

  /// The same without the blocks that have any of these sequences: to read on when an error has
  /// named them. Reads the index of a segment that loses a part. If that fails, `size`, `first` and
  /// `last` do not yet know of the loss, and the segment is an error for whoever gets to it.
  ArchivedStream without(SequenceRange lost) const;

  /// Nothing is removed from an archive yet.
  std::optional<EvictedRange> evicted() const noexcept { return std::nullopt; }

private:
  friend class ArchiveReader;
  class Impl;
  explicit ArchivedStream(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

/// Walks the blocks of a stream, each found when the walk reaches its segment, decoded when it
/// reaches its lowest position and let go when it is used up. An input iterator: of one walk there
/// is one place.
class ArchivedStream::Iterator {
public:
  using iterator_concept = std::input_iterator_tag;
  using value_type = FrameView;
  using difference_type = std::ptrdiff_t;

  Iterator();
  Iterator(Iterator&&) noexcept;
  Iterator& operator=(Iterator&&) noexcept;
  ~Iterator();

  /// Valid until the iterator moves on.
  FrameView operator*() const noexcept;
  Position position() const noexcept;
  /// After an exception the iterator can only be destroyed or assigned to.
  Iterator& operator++();
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const noexcept;

private:
  friend class Frames;
  class Walk;
  explicit Iterator(std::unique_ptr<Walk> walk);
  std::unique_ptr<Walk> walk_;
};

/// A part of a stream. Reads nothing before it is asked to begin, and may begin any number of
/// times.
class ArchivedStream::Frames : public std::ranges::view_interface<Frames> {
public:
  /// At the first frame.
  Iterator begin() const;
  std::default_sentinel_t end() const noexcept { return {}; }

private:
  friend class ArchivedStream;
  Frames(std::shared_ptr<const Impl> stream, Position from)
      : stream_(std::move(stream)), from_(from) {}
  std::shared_ptr<const Impl> stream_;
  Position from_;
};

inline ArchivedStream::Frames ArchivedStream::frames() const {
  return frames_from({});
}

} // namespace datastream
