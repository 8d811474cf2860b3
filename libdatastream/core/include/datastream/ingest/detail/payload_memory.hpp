#pragma once
/// Keeps the payloads of one stored stream alive.

#include <datastream/model/block.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

namespace datastream::detail {

/// The blocks that a stream's payloads lie in, each with the payload bytes that need it: blocks of
/// batches, kept by reference, and blocks of its own that payloads are copied into. A block is let
/// go of with its last payload. Owned by one thread.
class PayloadMemory {
public:
  /// One block that is kept.
  struct Pin {
    BlockPtr block;
    std::uint64_t bytes = 0; ///< of stored payloads that lie in it
  };

  /// Copies a payload. Throws `std::bad_alloc`.
  const char* copy(std::string_view payload);

  /// Keeps a block, of which the caller then adds the payloads to `bytes`, and calls
  /// `drop_if_unused`. Null when its memory overlaps that of another block kept: then copy.
  Pin* keep(const BlockPtr& block);
  void drop_if_unused(Pin& pin) noexcept;

  /// Takes back a payload that was copied, or was counted in a block that is kept.
  void release(const char* payload, std::size_t bytes) noexcept;

  /// Bytes of all blocks, used or not, and of what is needed to find them.
  std::size_t memory_bytes() const noexcept;

private:
  Pin& add(BlockPtr block);
  void start_block(std::size_t payload_bytes);

  std::map<std::uintptr_t, Pin> pins_; // by the address of the block's first byte
  std::size_t block_bytes_ = 0;        ///< capacity of all blocks
  Pin* released_ = nullptr;            ///< where the last release was: most come in order

  Pin* open_ = nullptr; ///< the block that copies go into; kept even when unused
  char* cursor_ = nullptr;
  std::size_t room_ = 0;
  std::size_t next_block_bytes_ = 1024; ///< doubles from here: an idle stream must cost little
};

} // namespace datastream::detail
