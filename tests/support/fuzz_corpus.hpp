#pragma once
/// Runs what a fuzz target checks on its seed corpus.

#include <doctest/doctest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace datastream::test {

template <class Holds>
void replay_corpus(const std::string& target, Holds holds) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(DATASTREAM_SOURCE_DIR) / "tests/fuzz/corpus" / target)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string input(std::istreambuf_iterator<char>(file), {});
    CAPTURE(entry.path().filename().string());
    CHECK(holds(input));
    ++count;
  }
  CHECK(count >= 5);
}

} // namespace datastream::test
