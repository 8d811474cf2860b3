#pragma once
/// Errors of files and of the format as errors of an archive.

#include "format/format_error.hpp"

#include <datastream/archive/archive_error.hpp>
#include <datastream/archive/file_system.hpp>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>

namespace datastream {

ArchiveError to_archive_error(const FileError& error);

inline std::unexpected<ArchiveError> archive_failed(const FileError& error) {
  return std::unexpected(to_archive_error(error));
}

/// What is said when there is no memory for more: a string has room for so much in itself.
template <std::size_t bytes>
ArchiveError error_without_memory(const char (&text)[bytes]) noexcept {
  static_assert(bytes <= 16);
  return {ArchiveError::Kind::io, text, {}};
}

/// `seg_….dss at byte 1234: the checksum of the block's body differs`
ArchiveError damaged(const std::filesystem::path& path, std::uint64_t offset,
                     const format::FormatError& error);

/// The same error, and what it costs: sequences from `begin` to before `end`, if that is any.
ArchiveError costing(ArchiveError error, std::uint64_t begin, std::uint64_t end);

} // namespace datastream
