#pragma once
/// Errors of who writes an archive, and the syncs that must not be taken for other writes.

#include "errors.hpp"

#include <datastream/archive/archive_error.hpp>
#include <datastream/archive/file_system.hpp>

#include <expected>
#include <filesystem>

namespace datastream {

/// A write that failed.
struct WriteFailure {
  ArchiveError error;
  /// It was a sync of a segment or of the archive's directory: nobody knows what the disk holds of
  /// what was written before.
  bool of_sync = false;
};

inline std::unexpected<WriteFailure> write_failed(const FileError& error) {
  return std::unexpected(WriteFailure{to_archive_error(error), false});
}

/// Syncs a file, or a directory. Never throws: where there is no memory to tell of a failure, it is
/// one of a sync all the same.
std::expected<void, WriteFailure> sync(File& file) noexcept;
std::expected<void, WriteFailure> sync_directory(FileSystem& files,
                                                 const std::filesystem::path& directory) noexcept;

} // namespace datastream
