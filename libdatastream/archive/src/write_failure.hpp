#pragma once
/// Errors of who writes an archive.

#include "errors.hpp"

#include <datastream/archive/archive_error.hpp>
#include <datastream/archive/file_system.hpp>

#include <expected>

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

inline std::unexpected<WriteFailure> sync_failed(const FileError& error) {
  return std::unexpected(WriteFailure{to_archive_error(error), true});
}

} // namespace datastream
