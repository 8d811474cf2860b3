#pragma once
/// Frames for the rows of the archive. Their payloads do not repeat, so that compression gains
/// nothing on either side.

#include "harness/payloads.hpp"

#include <datastream/model/frame.hpp>
#include <datastream/model/frame_batch.hpp>
#include <datastream/model/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// Payloads of one size, cut from random bytes.
class NoiseSet {
public:
  explicit NoiseSet(std::size_t size) : size_(size), noise_(pool_bytes + size, '\0') {
    std::mt19937_64 random(size);
    for (char& byte : noise_)
      byte = static_cast<char>(random());
  }

  std::size_t size() const noexcept { return size_; }
  std::string_view operator[](std::uint64_t sequence) const noexcept {
    return std::string_view(noise_).substr(sequence * size_ % pool_bytes, size_);
  }

  /// A batch of frames at `first` to `first + count - 1`.
  datastream::FrameBatch batch(const datastream::StreamId& stream, std::uint64_t first,
                               std::size_t count) const {
    std::vector<datastream::FrameView> frames;
    frames.reserve(count);
    for (std::uint64_t position = first; position < first + count; ++position)
      frames.push_back({{1}, {position}, (*this)[position], {}});
    return datastream::FrameBatch::copy_of(stream, frames);
  }

private:
  static constexpr std::size_t pool_bytes = 16U << 20U;

  std::size_t size_;
  std::string noise_;
};

/// A directory on the disk where temporary files are, removed with everything in it.
class DiskDirectory {
public:
  DiskDirectory() {
    std::string name =
        (std::filesystem::temp_directory_path() / "datastream-bench-XXXXXX").string();
    require(::mkdtemp(name.data()) != nullptr, "there is a place for temporary files");
    path_ = name;
  }
  DiskDirectory(const DiskDirectory&) = delete;
  DiskDirectory& operator=(const DiskDirectory&) = delete;
  ~DiskDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const noexcept { return path_; }

private:
  std::filesystem::path path_;
};

} // namespace bench
