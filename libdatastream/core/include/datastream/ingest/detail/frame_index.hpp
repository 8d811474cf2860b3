#pragma once
/// The index of one stored stream: which positions are stored, and where their payloads lie.
///
/// A radix tree of two levels over positions. A map leads from a position's upper 52 bits to a
/// chunk of 4,096 positions, which holds those of its 64 groups that exist, packed and found
/// through a bitmap. A group has a bitmap of its 64 positions and their entries: packed while they
/// are few, a slot for each position once they are many. So what comes in order, or nearly, is
/// written to its slot in the group that was used last, and a frame that comes alone costs some 150
/// bytes. An entry holds no position: its bit in the bitmap is its position.

#include <datastream/model/frame_batch.hpp>

#include <bit>
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
  Position lowest; ///< of those frames
  Position highest;
};

/// Number of bits set in `bits` below bit `n`.
inline unsigned rank(std::uint64_t bits, unsigned n) noexcept {
  const std::uint64_t below = (std::uint64_t{1} << n) - 1;
  const std::uint64_t set = bits & below;
  // Streams are dense as a rule, and counting bits is a dozen instructions on a plain x86-64.
  return set == below ? n : static_cast<unsigned>(std::popcount(set));
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
  void insert(unsigned bit, StoredEntry entry) noexcept;
  /// Inserts leading headers as long as they belong to this group, are not present, not below
  /// `floor`, and there is room. The first must belong to it.
  StoredRun insert(std::span<const FrameHeader> headers, const char* data,
                   std::uint64_t floor) noexcept;
  void remove_lowest() noexcept;

private:
  std::uint64_t present_ = 0;
  std::unique_ptr<StoredEntry[]> entries_;
  std::uint8_t size_ = 0;
  std::uint8_t capacity_;
  std::uint8_t number_;
};

/// The groups of 4,096 positions.
struct FrameChunk {
  static constexpr unsigned position_bits = 12;

  std::uint64_t present = 0;      ///< bit n is set when group n exists
  std::vector<FrameGroup> groups; ///< those that exist, ascending

  const FrameGroup* find(unsigned number) const noexcept {
    return (present >> number & 1U) != 0 ? &groups[rank(present, number)] : nullptr;
  }
};

/// By a position's upper bits. Holds no empty chunk, and no chunk an empty group.
using ChunkMap = std::map<std::uint64_t, FrameChunk>;

/// See the head of this file. Owned by one thread; const functions may run concurrently.
class FrameIndex {
public:
  const ChunkMap& chunks() const noexcept { return chunks_; }
  std::optional<std::uint64_t> first() const noexcept;
  std::optional<std::uint64_t> last() const noexcept;

  /// The entry at a position; null when it is not stored.
  const StoredEntry* find(std::uint64_t position) const noexcept;
  /// The same, and remembers where that was for what comes next.
  StoredEntry* find(std::uint64_t position) noexcept;

  /// Stores an entry at a position that is not stored.
  void insert(std::uint64_t position, StoredEntry entry);

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

  std::size_t memory_bytes() const noexcept { return memory_bytes_; }

private:
  FrameGroup* find_group(std::uint64_t position) noexcept;
  FrameGroup& create_group(std::uint64_t position, std::size_t room);
  void make_room(FrameGroup& group, std::size_t more);
  void remove_first_group() noexcept;

  ChunkMap chunks_;
  std::size_t memory_bytes_ = 0;
  // The chunk and the group that were used last. Frames come in order as a rule.
  FrameChunk* recent_chunk_ = nullptr;
  std::uint64_t recent_chunk_key_ = 0;
  FrameGroup* recent_group_ = nullptr;
  std::uint64_t recent_group_key_ = 0;
};

} // namespace datastream::detail
