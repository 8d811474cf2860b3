#pragma once
/// What a process uses of its machine.

#include "under_tsan.hpp"
#include <cstddef>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <unistd.h>

namespace datastream::test {

#if defined(__SANITIZE_ADDRESS__) || DATASTREAM_UNDER_TSAN
/// Whether memory in use says anything: AddressSanitizer keeps what was freed, and ThreadSanitizer
/// has an allocator of its own.
inline constexpr bool memory_is_ours = false;
#else
inline constexpr bool memory_is_ours = true;
#endif

inline std::size_t resident_bytes(const std::string& process = "self") {
  std::ifstream file("/proc/" + process + "/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

struct ProcessUsage {
  std::ptrdiff_t files = 0;
  std::ptrdiff_t threads = 0;
  std::size_t resident = 0;

  static ProcessUsage now(const std::string& process = "self") {
    const auto entries = [&](const char* folder) {
      return std::distance(std::filesystem::directory_iterator("/proc/" + process + folder), {});
    };
    return {entries("/fd"), entries("/task"), resident_bytes(process)};
  }
};

inline std::ostream& operator<<(std::ostream& out, const ProcessUsage& usage) {
  return out << usage.files << " files, " << usage.threads << " threads, "
             << (usage.resident >> 10U) << " KiB";
}

} // namespace datastream::test
