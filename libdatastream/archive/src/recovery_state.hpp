#pragma once
/// What one recovery knows so far.

#include "errors.hpp"
#include "format/segment_header.hpp"
#include "format/tip.hpp"
#include "metadata.hpp"
#include "recovery.hpp"
#include "write_failure.hpp"

#include <datastream/archive/archive_error.hpp>
#include <datastream/archive/file_system.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace datastream {

/// What was found, what must therefore be there, and what has been opened. The steps of a recovery
/// share it.
struct RecoveryState {
  RecoveryState(const std::filesystem::path& archive, const RecoveryOptions& how)
      : directory(archive), options(how), files(how.files) {}

  const std::filesystem::path& directory;
  const RecoveryOptions& options;
  FileSystem& files;

  std::vector<std::uint64_t> numbers;   ///< of the segments, ascending
  std::optional<format::Tip> tip;       ///< the last one that was written
  std::optional<MetadataCursor> cursor; ///< of the index, as it was found
  OpenedArchive opened;

  std::filesystem::path path_of(std::uint64_t number) const {
    return directory / format::segment_name(number);
  }
  /// The highest number that a segment has, or had.
  std::uint64_t last_segment() const {
    return std::max(numbers.empty() ? 0 : numbers.back(), tip ? tip->segment : 0);
  }
  /// How far the archive was durable, as far as the tip tells, which the index has told.
  std::uint64_t acknowledged_end() const { return tip ? tip->end_sequence : 1; }
  /// The same for the bytes of a segment that no other one is known to follow.
  std::uint64_t durable_bytes(std::uint64_t segment) const {
    return tip && tip->segment == segment ? tip->offset : 0;
  }
  /// Where the sequences of the next segment begin, as far as one can be read.
  std::uint64_t begin_behind(std::uint64_t segment) const;

  /// Reports what cannot be read any more: sequences from `first` to before `end`, if that is any.
  void hole(ArchiveError::Kind kind, std::string what, std::uint64_t first, std::uint64_t end);
  /// What is said when acknowledged frames are gone; `what` names file and offset.
  WriteFailure ahead(std::string what) const;
  WriteFailure segment_gone(std::uint64_t number, std::uint64_t durable) const;
};

/// A step that cannot go on, and not because of a sync.
inline std::unexpected<WriteFailure> refuse(ArchiveError error) {
  return std::unexpected(WriteFailure{std::move(error), false});
}
inline std::unexpected<WriteFailure> refuse(const FileError& error) {
  return refuse(to_archive_error(error));
}

ArchiveError of_another_archive(const std::filesystem::path& segment);

} // namespace datastream
