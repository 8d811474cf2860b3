#pragma once
/// The index of one stored stream: which positions are stored, and where their payloads lie.
///
/// A radix tree of two levels over positions. A map leads from a position's upper 52 bits to a
/// chunk of 4,096 positions, which holds those of its 64 groups that exist, packed and found
/// through a bitmap. A group has a bitmap of its 64 positions and their entries: packed while they
/// are few, a slot for each position once they are many. So a frame of a stream without large holes
/// is written to its slot, whatever the order, and a frame that comes alone costs some 170 bytes.
/// An entry holds no position: its bit in the bitmap is its position.
///
/// In front of the map is a table with a place for every chunk, at the low bits of its key. A
/// stream's chunks are neighbours as a rule, so their places differ and the map is not asked.

#include <datastream/model/frame_batch.hpp>

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace datastream::detail {

/// Where the payload of one stored frame lies.
struct StoredEntry {
  const char* data;
  std::uint32_t length; ///< bytes
  std::uint32_t channel;
};

/// Headers of a batch that were stored together, and the bytes of their payloads.
struct StoredRun {
  std::size_t frames = 0;
  std::size_t bytes = 0;
};

/// Number of bits set in `bits` below bit `n`.
inline unsigned rank(std::uint64_t bits, unsigned n) noexcept {
  const std::uint64_t below = (std::uint64_t{1} << n) - 1;
  const std::uint64_t set = bits & below;
  // Streams are dense as a rule, and counting bits is a dozen instructions on a plain x86-64.
  return set == below ? n : static_cast<unsigned>(std::popcount(set));
}

/// A position's upper bits name its chunk, the next six its group there, the last six its bit.
constexpr std::uint64_t chunk_key(std::uint64_t position) noexcept {
  return position >> 12U;
}
constexpr unsigned group_number(std::uint64_t position) noexcept {
  return position >> 6U & 63U;
}
constexpr unsigned bit_of(std::uint64_t position) noexcept {
  return position & 63U;
}
/// The first position of a group.
constexpr std::uint64_t base_of(std::uint64_t chunk, unsigned group) noexcept {
  return chunk << 12U | std::uint64_t{group} << 6U;
}

/// The stored ones of the positions `64 * k` to `64 * k + 63`.
class FrameGroup {
public:
  static constexpr unsigned width = 64;

  /// An empty group with room for at least `room` frames.
  FrameGroup(unsigned number, std::size_t room);

  /// Its number within its chunk, 0 to 63.
  unsigned number() const noexcept { return number_; }
  /// Bit n is set when the group's nth position is stored. Never 0 in a group of an index.
  std::uint64_t present() const noexcept { return present_; }
  bool contains(unsigned bit) const noexcept { return (present_ >> bit & 1U) != 0; }

  /// Whether every position has a slot of its own; else the entries are packed, ascending.
  bool spread() const noexcept { return capacity_ == width; }
  /// The entry of a position that is present.
  const StoredEntry* entry(unsigned bit) const noexcept {
    return entries_.get() + (spread() ? bit : rank(present_, bit));
  }
  StoredEntry* entry(unsigned bit) noexcept {
    return entries_.get() + (spread() ? bit : rank(present_, bit));
  }

  std::size_t capacity() const noexcept { return capacity_; }
  bool full() const noexcept { return size_ == capacity_; }
  /// Makes room for so many more frames.
  void reserve(std::size_t more);

  /// `bit` must not be present, and the group not be full.
  void insert(unsigned bit, StoredEntry entry) noexcept {
    assert(!full() && !contains(bit));
    if (!spread())
      open_gap(bit);
    *this->entry(bit) = entry;
    ++size_;
    present_ |= std::uint64_t{1} << bit;
  }
  /// Inserts leading headers as long as they belong to this group, are not present, not below
  /// `floor`, and there is room. The first must belong to it.
  StoredRun insert(std::span<const FrameHeader> headers, const char* data,
                   std::uint64_t floor) noexcept;
  void remove_lowest() noexcept;

private:
  /// Moves packed entries up, so that there is a place for the entry of `bit`.
  void open_gap(unsigned bit) noexcept;

  std::uint64_t present_ = 0;
  std::unique_ptr<StoredEntry[]> entries_;
  std::uint8_t size_ = 0;
  std::uint8_t capacity_;
  std::uint8_t number_;
};

/// The groups of 4,096 positions.
struct FrameChunk {
  std::uint64_t present = 0;      ///< bit n is set when group n exists
  std::vector<FrameGroup> groups; ///< those that exist, ascending

  /// Whether groups 0 to `number` exist, so that `groups[number]` is that group.
  bool dense_up_to(unsigned number) const noexcept {
    return (~present & ((std::uint64_t{2} << number) - 1)) == 0;
  }
  const FrameGroup* find(unsigned number) const noexcept {
    return (present >> number & 1U) != 0 ? &groups[rank(present, number)] : nullptr;
  }
  FrameGroup* find(unsigned number) noexcept {
    return (present >> number & 1U) != 0 ? &groups[rank(present, number)] : nullptr;
  }
};

/// By a position's upper bits. Holds no empty chunk, and no chunk an empty group.
using ChunkMap = std::map<std::uint64_t, FrameChunk>;

/// See the head of this file. Owned by one thread; const functions may run concurrently. One that
/// was moved from may be destroyed or assigned to.
class FrameIndex {
public:
  FrameIndex() : known_(std::make_unique<KnownChunk[]>(1)) {}

  /// Positions that are stored.
  std::size_t size() const noexcept { return size_; }
  const ChunkMap& chunks() const noexcept { return chunks_; }
  std::optional<std::uint64_t> first() const noexcept;
  std::optional<std::uint64_t> last() const noexcept;

  /// The entry at a position; null when it is not stored.
  const StoredEntry* find(std::uint64_t position) const noexcept;
  StoredEntry* find(std::uint64_t position) noexcept;

  /// The group that a position belongs to; null when none of its positions is stored.
  FrameGroup* find_group(std::uint64_t position) noexcept {
    const std::uint64_t key = chunk_key(position);
    const KnownChunk& known = known_[key & known_mask_];
    if (known.key != key) [[unlikely]]
      return look_up_group(position);
    return known.chunk->find(group_number(position));
  }

  /// Stores an entry if its position is not stored and its slot is found without a search: the
  /// quick way, which may always say no.
  bool try_insert(std::uint64_t position, StoredEntry entry) noexcept {
    const std::uint64_t key = chunk_key(position);
    const KnownChunk& known = known_[key & known_mask_];
    const unsigned number = group_number(position);
    if (known.key != key || !known.chunk->dense_up_to(number))
      return false;
    FrameGroup& group = known.chunk->groups[number];
    const unsigned bit = bit_of(position);
    if (!group.spread() || group.contains(bit))
      return false;
    group.insert(bit, entry);
    ++size_;
    return true;
  }

  /// Stores an entry at a position that is not stored; `group` is what `find_group` gave for it.
  void insert(FrameGroup* group, std::uint64_t position, StoredEntry entry) {
    if (!group || group->full()) [[unlikely]]
      group = &make_room(group, position, 1);
    group->insert(bit_of(position), entry);
    ++size_;
  }

  /// Stores leading headers as long as they belong to one group, are not stored and not below
  /// `floor`: at least one, unless the first is stored already. Offsets count from `data`.
  StoredRun insert_run(std::span<const FrameHeader> headers, const char* data, std::uint64_t floor);

  /// A position that is no longer stored.
  struct Removed {
    std::uint64_t position;
    StoredEntry entry;
  };
  /// Removes the lowest position. The index must not be empty.
  Removed evict_lowest() noexcept;

  /// Calls `visit(StoredEntry&)` for every entry, in the order of their positions.
  template <class Visit>
  void each_entry(Visit visit) {
    for (auto& [key, chunk] : chunks_)
      for (FrameGroup& group : chunk.groups)
        for (std::uint64_t rest = group.present(); rest != 0; rest &= rest - 1)
          visit(*group.entry(static_cast<unsigned>(std::countr_zero(rest))));
  }

  std::size_t memory_bytes() const noexcept;

private:
  struct KnownChunk {
    std::uint64_t key = ~std::uint64_t{0}; ///< that of no chunk
    FrameChunk* chunk = nullptr;
  };

  FrameChunk* look_up(std::uint64_t key) noexcept;
  FrameGroup* look_up_group(std::uint64_t position) noexcept;
  /// A group with room for `more` frames, at least one of them `position`: `group`, or a new one.
  FrameGroup& make_room(FrameGroup* group, std::uint64_t position, std::size_t more);
  FrameGroup& add_group(std::uint64_t position, FrameGroup group);
  FrameChunk& add_chunk(std::uint64_t key, FrameGroup first);
  void remove_first_group() noexcept;

  ChunkMap chunks_;
  std::unique_ptr<KnownChunk[]> known_; ///< the chunk that was asked for last at each place
  std::uint64_t known_mask_ = 0;        ///< places - 1
  std::size_t size_ = 0;
  std::size_t room_ = 0;       ///< entries that all groups have room for
  std::size_t node_bytes_ = 0; ///< of chunks and groups, without the entries
};

} // namespace datastream::detail
