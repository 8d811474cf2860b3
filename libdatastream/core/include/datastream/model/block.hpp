#pragma once
/// Reference-counted memory that payloads live in.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace datastream {

/// A contiguous piece of memory with an intrusive reference count. Written by whoever made it;
/// the bytes that a `FrameBatch` refers to never change once the batch exists.
///
/// Thread safety: the count may be changed from any thread; the bytes may be read by all.
class Block {
public:
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  char* data() noexcept { return data_; }
  const char* data() const noexcept { return data_; }
  /// Bytes that this block pins, used or not.
  std::size_t capacity() const noexcept { return capacity_; }

  /// The caller's reference is the only one, and so nobody reads these bytes any more.
  bool unique() const noexcept { return references_.load(std::memory_order_acquire) == 1; }

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      dispose_(this);
  }

protected:
  using Dispose = void (*)(Block*) noexcept;
  Block(char* data, std::size_t capacity, Dispose dispose) noexcept
      : data_(data), capacity_(capacity), dispose_(dispose) {}
  ~Block() = default;
  /// For a block whose memory is known only after it was constructed.
  void point_to(char* data) noexcept { data_ = data; }
  /// For a block that is used again after it was disposed of.
  void revive() noexcept { references_.store(1, std::memory_order_relaxed); }

private:
  std::atomic<std::uint32_t> references_{1};
  char* data_;
  std::size_t capacity_;
  Dispose dispose_;
};

/// Shared ownership of a `Block`.
class BlockPtr {
public:
  BlockPtr() = default;
  /// Takes over one reference that the caller already holds.
  static BlockPtr adopt(Block* block) noexcept { return BlockPtr(block); }
  /// Adds a reference of its own.
  static BlockPtr share(Block* block) noexcept {
    if (block)
      block->retain();
    return BlockPtr(block);
  }

  BlockPtr(const BlockPtr& other) noexcept : block_(other.block_) {
    if (block_)
      block_->retain();
  }
  BlockPtr(BlockPtr&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  BlockPtr& operator=(BlockPtr other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~BlockPtr() {
    if (block_)
      block_->release();
  }

  Block* get() const noexcept { return block_; }
  Block* operator->() const noexcept { return block_; }
  explicit operator bool() const noexcept { return block_ != nullptr; }
  /// Gives up ownership without releasing.
  Block* detach() noexcept { return std::exchange(block_, nullptr); }

private:
  explicit BlockPtr(Block* block) noexcept : block_(block) {}
  Block* block_ = nullptr;
};

/// A block of exactly `bytes` uninitialised bytes; null when there is no memory.
BlockPtr allocate_block(std::size_t bytes) noexcept;

/// A block that owns `bytes` without copying them; null, and `bytes` untouched, when there is no
/// memory.
BlockPtr adopt_string(std::string&& bytes) noexcept;

} // namespace datastream
