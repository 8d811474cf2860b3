#pragma once
/// Keeps the payloads of one stored stream alive.

#include <datastream/model/block.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace datastream::detail {

/// The blocks that a stream's payloads lie in, each with the payload bytes that need it: blocks of
/// batches, kept by reference, and blocks of its own that payloads are copied into. A block is let
/// go of with its last payload. Owned by one thread.
class PayloadMemory {
public:
  /// One block that is kept.
  struct Pin {
    BlockPtr block;
    std::uint64_t bytes = 0; ///< of stored payloads that lie in it; modulo 2^64 while it is open
  };

  /// Room for a payload, which the caller copies into it. Throws `std::bad_alloc`, but not if
  /// there is that much `room()`; then it is at `next()`.
  char* take(std::size_t bytes) {
    if (bytes > room()) [[unlikely]]
      return take_elsewhere(bytes);
    return std::exchange(cursor_, cursor_ + bytes);
  }
  char* next() const noexcept { return cursor_; }
  std::size_t room() const noexcept { return static_cast<std::size_t>(end_ - cursor_); }

  /// Keeps a block, of which the caller then adds the payloads to `bytes`, and calls
  /// `drop_if_unused`. Null when its memory overlaps that of another block kept: then copy.
  Pin* keep(const BlockPtr& block);
  void drop_if_unused(Pin& pin) noexcept;

  /// Takes back the room of a payload, or a payload that was counted in a block that is kept.
  void release(const char* payload, std::size_t bytes) noexcept;

  /// Opens another block for the next copies, so that the open one is one like the others. Throws
  /// `std::bad_alloc`, and then goes on with the open one.
  void open_another() { start_block(1); }
  /// Whether payloads use less than half of the block that this one, which is not empty, lies in:
  /// never of the open one.
  bool lies_sparse(const char* payload) noexcept;

  /// Bytes of all blocks, used or not, and of what is needed to find them.
  std::size_t memory_bytes() const noexcept;

private:
  char* take_elsewhere(std::size_t bytes);
  Pin& add(BlockPtr block);
  void start_block(std::size_t payload_bytes);
  void close_block() noexcept;
  /// Where a payload lies, which is not empty.
  Pin& pin_of(const char* payload) noexcept;

  std::map<std::uintptr_t, Pin> pins_; // by the address of the block's first byte
  std::size_t block_bytes_ = 0;        ///< capacity of all blocks
  Pin* found_ = nullptr;               ///< what was looked for last: most come in order

  /// The block that copies go into; kept even when unused. What was taken of it is added to its
  /// bytes when it is full.
  Pin* open_ = nullptr;
  char* cursor_ = nullptr; ///< where its room begins
  char* end_ = nullptr;
  std::size_t next_block_bytes_ = 1024; ///< doubles from here: an idle stream must cost little
};

} // namespace datastream::detail
