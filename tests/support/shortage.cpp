#include "under_tsan.hpp"

#if !DATASTREAM_UNDER_TSAN

#include "shortage.hpp"

#include <cstdlib>
#include <limits>
#include <new>

namespace {

constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
thread_local std::size_t allocations_left = never; // until one fails
thread_local bool all_fail = false;                // from there on
thread_local bool one_failed = false;
thread_local const std::atomic<bool>* drought = nullptr;

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (allocations_left != never && allocations_left-- == 0) {
    allocations_left = all_fail ? 0 : never;
    one_failed = true;
    return nullptr;
  }
  if (drought && *drought)
    return nullptr;
  bytes = (bytes + alignment - 1) / alignment * alignment; // as aligned_alloc wants it
  return std::aligned_alloc(alignment, bytes ? bytes : alignment);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  if (void* memory = allocate(bytes, alignment))
    return memory;
  throw std::bad_alloc();
}

constexpr std::size_t usual = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

} // namespace

// All forms, so that a sanitizer does not see memory of one allocator freed by another. The array
// forms of the standard library call these.
void* operator new(std::size_t bytes) {
  return allocate_or_throw(bytes, usual);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes, usual);
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes) {
  return allocate_or_throw(bytes, usual);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace datastream::test {

Shortage::Shortage(std::size_t n, Of of) {
  one_failed = false;
  all_fail = of == Of::all;
  allocations_left = n;
}

Shortage::~Shortage() {
  end();
}

void Shortage::end() {
  allocations_left = never;
}

bool Shortage::happened() {
  return one_failed;
}

Drought::Drought(const std::atomic<bool>& dry) {
  drought = &dry;
}

Drought::~Drought() {
  drought = nullptr;
}

} // namespace datastream::test

#endif
