#pragma once
/// The threads of this process, as the kernel lists them.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace datastream::test {

inline std::set<std::string> threads() {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    found.insert(entry.path().filename());
  return found;
}

/// The signals that a thread does not take.
inline std::uint64_t blocked_signals(const std::string& thread) {
  std::ifstream status("/proc/self/task/" + thread + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("SigBlk:"))
      return std::stoull(line.substr(7), nullptr, 16);
  return 0;
}

inline bool blocks(const std::string& thread, int signal) {
  return ((blocked_signals(thread) >> (signal - 1)) & 1U) == 1;
}

} // namespace datastream::test
