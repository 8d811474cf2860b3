#pragma once
/// How much memory the program has allocated.

#include <cstddef>
#include <malloc.h>

namespace datastream::test {

/// Bytes that are allocated and not freed, as glibc's allocator counts them: nothing of what a
/// sanitizer's allocator hands out.
inline std::size_t heap_bytes() {
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

} // namespace datastream::test
