#include "harness/process.hpp"

#include "harness/require.hpp"

#include <malloc.h>
#include <unistd.h>

#include <fstream>
#include <thread>

namespace bench {

void keep_freed_memory() {
  require(::mallopt(M_TRIM_THRESHOLD, 256 << 20) == 1, "the trim threshold can be set");
  require(::mallopt(M_TOP_PAD, 16 << 20) == 1, "the top pad can be set");
  require(::mallopt(M_MMAP_THRESHOLD, 32 << 20) == 1, "the mmap threshold can be set");
}

void become_threaded() {
  std::jthread([] {});
}

std::size_t resident_bytes() {
  std::size_t size = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  require(resident > 0, "the resident size can be read");
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::size_t heap_bytes() {
  const struct ::mallinfo2 heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

} // namespace bench
