#include "slab_pool.hpp"

#include <array>
#include <atomic>
#include <new>

namespace datastream {
namespace {

/// Four million bytes of slabs, enough for several muxes whose batches come and go.
std::array<std::atomic<Slab*>, 24> free_slabs;

constexpr std::size_t header_bytes = 64; // keeps the count off the first payload's cache line
static_assert(sizeof(Slab) <= header_bytes);

} // namespace

Slab::Slab() noexcept
    : Block(reinterpret_cast<char*>(this) + header_bytes, Slab::bytes, &Slab::dispose) {}

void Slab::dispose(Block* block) noexcept {
  SlabPool::put(static_cast<Slab*>(block));
}

Slab* SlabPool::take() noexcept {
  for (std::atomic<Slab*>& place : free_slabs) {
    if (place.load(std::memory_order_relaxed) == nullptr)
      continue;
    if (Slab* slab = place.exchange(nullptr, std::memory_order_acquire)) {
      slab->revive();
      return slab;
    }
  }
  void* memory =
      ::operator new(header_bytes + Slab::bytes, std::align_val_t{header_bytes}, std::nothrow);
  return memory ? new (memory) Slab : nullptr;
}

void SlabPool::put(Slab* slab) noexcept {
  for (std::atomic<Slab*>& place : free_slabs) {
    Slab* empty = nullptr;
    if (place.load(std::memory_order_relaxed) == nullptr &&
        place.compare_exchange_strong(empty, slab, std::memory_order_release,
                                      std::memory_order_relaxed))
      return;
  }
  slab->~Slab();
  ::operator delete(slab, std::align_val_t{header_bytes});
}

} // namespace datastream
