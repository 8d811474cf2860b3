#pragma once
/// Runs datastream-archive as a program.

#include <datastream/archive/archive.hpp>
#include <datastream/model/frame.hpp>
#include <datastream/model/frame_batch.hpp>

#include <doctest/doctest.h>

#include <finished_program.hpp>
#include <temporary_directory.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace datastream::test {

inline const std::filesystem::path golden =
    std::filesystem::path(DATASTREAM_SOURCE_DIR) / "tests/archive/golden";

inline FinishedProgram tool(std::vector<std::string> words) {
  words.insert(words.begin(), ARCHIVE_TOOL);
  return run_program(std::move(words));
}

/// The same in a shell, where its path is `$0`.
inline FinishedProgram in_shell(const std::string& command) {
  return run_program({"/bin/bash", "-c", command, ARCHIVE_TOOL});
}

/// Writes an archive with these frames of one stream, whose channels 1 and 2 are `log`, a text, and
/// `load`, records.
inline void make_archive(const std::filesystem::path& directory, const std::vector<Frame>& frames,
                         const StreamId& stream = {"node", {1}}) {
  const auto archive = Archive::open(directory);
  REQUIRE(archive);
  (*archive)->declare(std::make_shared<const ChannelDescriptor>(stream, ChannelId{1}, "log",
                                                                std::nullopt, TextStream{}));
  (*archive)->declare(std::make_shared<const ChannelDescriptor>(stream, ChannelId{2}, "load",
                                                                std::nullopt, JsonRecord{}));
  (*archive)->append(FrameBatch::copy_of(stream, frames),
                     std::chrono::system_clock::time_point(std::chrono::seconds(1'000'000'000)));
  REQUIRE((*archive)->close());
}

inline std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A copy of the golden archive with one bit of a file changed.
inline void damage_golden(const std::filesystem::path& directory, const std::string& name,
                          std::size_t byte) {
  for (const char* file : {"tip", "seg_0000000000001.0.dss", "seg_0000000000010.0.dss"}) {
    std::string bytes = content(golden / file);
    if (name == file)
      bytes[byte] ^= 1;
    std::ofstream(directory / file, std::ios::binary) << bytes;
  }
}

} // namespace datastream::test
