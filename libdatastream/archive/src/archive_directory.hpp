#pragma once
/// The directory of an archive, before anything in it is looked at by who writes.

#include <datastream/archive/archive_error.hpp>
#include <datastream/archive/file_system.hpp>

#include <expected>
#include <filesystem>
#include <memory>

namespace datastream {

/// Makes the directory of an archive and those that it lies in, if need be, so that they survive a
/// power cut. Errors: `io`, `no_room`.
std::expected<void, ArchiveError> create_archive_directory(FileSystem& files,
                                                           const std::filesystem::path& directory);

/// What only one may have who writes. Errors: `locked`, `io`.
std::expected<std::unique_ptr<FileLock>, ArchiveError>
lock_archive(FileSystem& files, const std::filesystem::path& directory);

} // namespace datastream
