#include "host_file.hpp"

#include "file_descriptor.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace datastream::host {
namespace {

std::error_code last_error() {
  return {errno, std::generic_category()};
}

} // namespace

std::expected<std::string, std::error_code> read_file(const std::filesystem::path& path) {
  const FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (!file)
    return std::unexpected(last_error());
  std::string text;
  for (;;) {
    // Their size is not known beforehand: most are small, none says how large it is.
    const std::size_t before = text.size();
    text.resize(before + std::clamp<std::size_t>(before, 4096, file_bytes));
    const ssize_t got = ::read(file.get(), text.data() + before, text.size() - before);
    const auto error = got < 0 ? last_error() : std::error_code();
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (error == std::errc::interrupted)
      continue;
    if (error)
      return std::unexpected(error);
    if (got == 0)
      return text;
    if (text.size() > file_bytes)
      return std::unexpected(std::make_error_code(std::errc::file_too_large));
  }
}

std::string message(const std::filesystem::path& path, std::error_code error) {
  return path.string() + ": " + error.message();
}

} // namespace datastream::host
