#include <datastream/ingest/detail/payload_memory.hpp>

#include <datastream/defaults.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace datastream::detail {
namespace {

/// Blocks that copies go into grow up to this: one huge page, so that touching it for the first
/// time is one page fault and not 512.
constexpr std::size_t block_bytes_max = 2U << 20U;

/// Memory of that size and alignment, never touched before: pages that a heap has touched one by
/// one do not become a huge one. Throws `std::bad_alloc`.
char* new_huge_page() {
#ifdef __linux__
  // Twice as much as needed, of which the aligned part is kept.
  void* const mapped = ::mmap(nullptr, 2 * block_bytes_max, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    throw std::bad_alloc();
  auto* const begin = static_cast<char*>(mapped);
  const std::size_t lead = -reinterpret_cast<std::uintptr_t>(begin) % block_bytes_max;
  char* const aligned = begin + lead;
  if (lead != 0)
    ::munmap(begin, lead);
  ::munmap(aligned + block_bytes_max, block_bytes_max - lead);
  ::madvise(aligned, block_bytes_max, MADV_HUGEPAGE); // a wish: without it all works the same
  return aligned;
#else
  return static_cast<char*>(::operator new(block_bytes_max));
#endif
}

/// A block of that size. Memory that the process has touched is worth keeping, because touching new
/// memory costs up to sixty times as much as writing to it. So a block that is no longer used is
/// kept for the next one who needs one, in this or another stream, and meanwhile offered to the
/// system, which takes its pages if it is short of memory and leaves them alone otherwise.
class HugeBlock final : public Block {
public:
  /// A spare one if there is, else a new one. Throws `std::bad_alloc`.
  static BlockPtr take();

private:
  HugeBlock() noexcept : Block(nullptr, block_bytes_max, &put_back) {}
  static void put_back(Block* block) noexcept;

  static constinit std::mutex mutex_;
  static constinit HugeBlock* spare_; ///< the first; guarded by `mutex_`
  HugeBlock* next_spare_ = nullptr;   // not in the block's memory, which the system may take
};

constinit std::mutex HugeBlock::mutex_;
constinit HugeBlock* HugeBlock::spare_ = nullptr;

BlockPtr HugeBlock::take() {
  {
    const std::scoped_lock lock{mutex_};
    if (HugeBlock* const block = spare_) {
      spare_ = std::exchange(block->next_spare_, nullptr);
      block->revive();
      return BlockPtr::adopt(block);
    }
  }
  std::unique_ptr<HugeBlock> block{new HugeBlock};
  block->point_to(new_huge_page());
  return BlockPtr::adopt(block.release());
}

void HugeBlock::put_back(Block* block) noexcept {
  auto* self = static_cast<HugeBlock*>(block);
#ifdef __linux__
  ::madvise(self->data(), block_bytes_max, MADV_FREE); // if that fails the memory is kept, is all
#endif
  const std::scoped_lock lock{mutex_};
  self->next_spare_ = std::exchange(spare_, self);
}

BlockPtr new_block(std::size_t bytes) {
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

char* PayloadMemory::take_elsewhere(std::size_t bytes) {
  if (bytes > defaults::slab_payload_max) {
    Pin& own = add(new_block(bytes));
    own.bytes = bytes;
    return own.block->data();
  }
  start_block(bytes);
  return take(bytes);
}

void PayloadMemory::start_block(std::size_t payload_bytes) {
  // At most a quarter of a block is left over when the next payload does not fit.
  while (next_block_bytes_ < 4 * payload_bytes && next_block_bytes_ < block_bytes_max)
    next_block_bytes_ *= 2;
  Pin& fresh =
      add(next_block_bytes_ < block_bytes_max ? new_block(next_block_bytes_) : HugeBlock::take());
  close_block();
  open_ = &fresh;
  cursor_ = fresh.block->data();
  end_ = cursor_ + fresh.block->capacity();
  next_block_bytes_ = std::min(next_block_bytes_ * 2, block_bytes_max);
}

void PayloadMemory::close_block() noexcept {
  if (Pin* const full = std::exchange(open_, nullptr)) {
    full->bytes += static_cast<std::size_t>(cursor_ - full->block->data());
    drop_if_unused(*full);
  }
  cursor_ = end_ = nullptr;
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
  if (found_ == &pin)
    found_ = nullptr;
  block_bytes_ -= pin.block->capacity();
  pins_.erase(address(pin.block->data()));
}

PayloadMemory::Pin& PayloadMemory::pin_of(const char* payload) noexcept {
  if (!found_ || !lies_in(address(payload), *found_->block.get()))
    found_ = &std::prev(pins_.upper_bound(address(payload)))->second;
  return *found_;
}

void PayloadMemory::release(const char* payload, std::size_t bytes) noexcept {
  if (bytes == 0)
    return;
  Pin& pin = pin_of(payload);
  pin.bytes -= bytes;
  drop_if_unused(pin);
}

bool PayloadMemory::lies_sparse(const char* payload) noexcept {
  const Pin& pin = pin_of(payload);
  return &pin != open_ && pin.bytes < pin.block->capacity() / 2;
}

std::size_t PayloadMemory::memory_bytes() const noexcept {
  constexpr std::size_t map_node_bytes = 4 * sizeof(void*);
  return block_bytes_ + pins_.size() * (sizeof(*pins_.begin()) + map_node_bytes);
}

} // namespace datastream::detail
