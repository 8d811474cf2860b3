#pragma once
/// Memory that producers write payloads into.

#include <datastream/defaults.hpp>
#include <datastream/model/block.hpp>

#include <cstddef>

namespace datastream {

/// A block of fixed size for many payloads. Payloads begin in its first `defaults::slab_bytes`;
/// one that begins near that end runs on into the margin, so no payload is ever split or moved.
class Slab final : public Block {
public:
  static constexpr std::size_t bytes = defaults::slab_bytes + defaults::slab_payload_max;

private:
  friend class SlabPool;
  Slab() noexcept;
  static void dispose(Block* block) noexcept;
};

/// Recycles slabs for the whole process: memory touched for the first time costs more than
/// writing the payload does. Keeps a few, gives the rest back.
///
/// Thread safety: lock-free, from any thread.
class SlabPool {
public:
  /// A slab with one reference, which its `Block::release` returns here; null when there is no
  /// memory.
  static Slab* take() noexcept;

private:
  friend class Slab;
  static void put(Slab* slab) noexcept;
};

} // namespace datastream
