#include <datastream/ingest/detail/payload_memory.hpp>

#include <datastream/defaults.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <iterator>
#include <new>
#include <utility>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace datastream::detail {
namespace {

/// Blocks that copies go into grow up to this, header included: one huge page, so that touching it
/// for the first time is one page fault and not 512.
constexpr std::size_t block_bytes_max = 2U << 20U;

class HugeBlock final : public Block {
public:
  /// A spare one if there is, else a new one. Throws `std::bad_alloc`.
  static BlockPtr take();

private:
  HugeBlock() noexcept
      : Block(reinterpret_cast<char*>(this + 1), block_bytes_max - sizeof(HugeBlock), &put_back) {}
  static void put_back(Block* block) noexcept;

  /// Memory that the process has touched already is worth keeping: 64 MiB at most.
  static constinit std::array<std::atomic<HugeBlock*>, 32> spare_;
};

constinit std::array<std::atomic<HugeBlock*>, 32> HugeBlock::spare_{};

BlockPtr HugeBlock::take() {
  for (auto& slot : spare_) {
    if (slot.load(std::memory_order_relaxed) == nullptr)
      continue;
    if (HugeBlock* block = slot.exchange(nullptr, std::memory_order_acquire)) {
      block->revive();
      return BlockPtr::adopt(block);
    }
  }
  void* memory = ::operator new(block_bytes_max, std::align_val_t{block_bytes_max});
#ifdef __linux__
  ::madvise(memory, block_bytes_max, MADV_HUGEPAGE); // a wish: without it all works the same
#endif
  return BlockPtr::adopt(new (memory) HugeBlock);
}

void HugeBlock::put_back(Block* block) noexcept {
  auto* self = static_cast<HugeBlock*>(block);
  for (auto& slot : spare_) {
    HugeBlock* none = nullptr;
    if (slot.load(std::memory_order_relaxed) == nullptr &&
        slot.compare_exchange_strong(none, self, std::memory_order_release,
                                     std::memory_order_relaxed))
      return;
  }
  self->~HugeBlock();
  ::operator delete(self, std::align_val_t{block_bytes_max});
}

BlockPtr new_block(std::size_t bytes) {
  if (bytes >= block_bytes_max)
    return HugeBlock::take();
  BlockPtr block = allocate_block(bytes);
  if (!block)
    throw std::bad_alloc();
  return block;
}

std::uintptr_t address(const char* byte) {
  return reinterpret_cast<std::uintptr_t>(byte);
}

bool lies_in(std::uintptr_t byte, const Block& block) {
  return byte - address(block.data()) < block.capacity();
}

} // namespace

const char* PayloadMemory::copy(std::string_view payload) {
  if (payload.empty())
    return nullptr;
  if (payload.size() > room_) {
    if (payload.size() > defaults::slab_payload_max) {
      Pin& own = add(new_block(payload.size()));
      own.bytes = payload.size();
      std::memcpy(own.block->data(), payload.data(), payload.size());
      return own.block->data();
    }
    start_block(payload.size());
  }
  char* const place = cursor_;
  std::memcpy(place, payload.data(), payload.size());
  cursor_ += payload.size();
  room_ -= payload.size();
  open_->bytes += payload.size();
  return place;
}

void PayloadMemory::start_block(std::size_t payload_bytes) {
  // At most a quarter of a block is left over when the next payload does not fit.
  while (next_block_bytes_ < 4 * payload_bytes && next_block_bytes_ < block_bytes_max)
    next_block_bytes_ *= 2;
  Pin& fresh = add(new_block(next_block_bytes_));
  Pin* const full = std::exchange(open_, &fresh);
  if (full)
    drop_if_unused(*full);
  cursor_ = fresh.block->data();
  room_ = fresh.block->capacity();
  next_block_bytes_ = std::min(next_block_bytes_ * 2, block_bytes_max);
}

PayloadMemory::Pin& PayloadMemory::add(BlockPtr block) {
  const std::uintptr_t begin = address(block->data());
  const std::size_t bytes = block->capacity();
  Pin& pin = pins_.try_emplace(begin, Pin{std::move(block), 0}).first->second;
  block_bytes_ += bytes;
  return pin;
}

PayloadMemory::Pin* PayloadMemory::keep(const BlockPtr& block) {
  const std::uintptr_t begin = address(block->data());
  const auto next = pins_.lower_bound(begin);
  if (next != pins_.end()) {
    if (next->second.block.get() == block.get())
      return &next->second;
    if (lies_in(next->first, *block.get()))
      return nullptr;
  }
  if (next != pins_.begin() && lies_in(begin, *std::prev(next)->second.block.get()))
    return nullptr;
  return &add(block);
}

void PayloadMemory::drop_if_unused(Pin& pin) noexcept {
  if (pin.bytes != 0 || &pin == open_)
    return;
  if (released_ == &pin)
    released_ = nullptr;
  block_bytes_ -= pin.block->capacity();
  pins_.erase(address(pin.block->data()));
}

void PayloadMemory::release(const char* payload, std::size_t bytes) noexcept {
  if (bytes == 0)
    return;
  if (!released_ || !lies_in(address(payload), *released_->block.get()))
    released_ = &std::prev(pins_.upper_bound(address(payload)))->second;
  released_->bytes -= bytes;
  drop_if_unused(*released_);
}

std::size_t PayloadMemory::memory_bytes() const noexcept {
  constexpr std::size_t map_node_bytes = 4 * sizeof(void*);
  return block_bytes_ + pins_.size() * (sizeof(*pins_.begin()) + map_node_bytes);
}

} // namespace datastream::detail
