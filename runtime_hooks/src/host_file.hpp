#pragma once
/// Reads a file of the kernel's.

#include <cstddef>
#include <expected>
#include <filesystem>
#include <string>
#include <system_error>

namespace datastream::host {

/// Most that is read of one file: `/proc/stat` of a host with thousands of processors fits.
inline constexpr std::size_t file_bytes = 4U << 20U;

/// The whole file. Does not wait for a writer of a pipe. Errors: of the system; `file_too_large`.
std::expected<std::string, std::error_code> read_file(const std::filesystem::path& path);

/// `/proc/stat: No such file or directory`
std::string message(const std::filesystem::path& path, std::error_code error);

} // namespace datastream::host
