#pragma once
/// A directory of a test's own.

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace datastream::test {

/// Empty at first; removed with everything in it. In memory where the system offers that: a test
/// that opens an archive at every byte would spend its time waiting for the disk.
class TemporaryDirectory {
public:
  TemporaryDirectory() {
    std::error_code error;
    const bool room = std::filesystem::space("/dev/shm", error).available >= wanted_bytes && !error;
    const std::filesystem::path parent =
        room ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
    std::string name = (parent / "datastream-XXXXXX").string();
    if (!::mkdtemp(name.data()))
      throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const noexcept { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

private:
  /// More than any test takes; containers often have much less in memory.
  static constexpr std::uintmax_t wanted_bytes = 1U << 30U;

  std::filesystem::path path_;
};

} // namespace datastream::test
