#pragma once
/// The index of one stored stream: which positions are stored, and where their payloads lie.
///
/// A radix tree of two levels over positions. A map leads from a position's upper 52 bits to a
/// chunk of 4,096 positions; a chunk holds those of its 64 groups that exist, a group those of its
/// 64 entries that exist, both packed and found through a bitmap. Frames that come in order are
/// appended to the group that was used last; one that comes alone costs some 150 bytes. An entry
/// holds no position: its place in the bitmap is its position.

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

/// How many headers of a batch were taken at once, and the bytes of their payloads.
struct AppendedRun {
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

/// Up to 64 frames at the positions `64 * k` to `64 * k + 63`.
class FrameGroup {
public:
  static constexpr unsigned width = 64;

  /// An empty group with room for at least `room` frames.
  FrameGroup(unsigned number, std::size_t room);

  /// Its number within its chunk, 0 to 63.
  unsigned number() const noexcept { return number_; }
  /// Bit n is set when the group's nth position is stored. Never 0 in a group of an index.
  std::uint64_t present() const noexcept { return present_; }
  /// The entries of the present positions, ascending.
  const StoredEntry* entries() const noexcept { return entries_.get() + evicted_; }
  std::size_t capacity() const noexcept { return capacity_; }

  bool full() const noexcept { return used_ == capacity_; }
  bool contains(unsigned bit) const noexcept { return (present_ >> bit & 1U) != 0; }
  /// Whether everything present lies below `bit`.
  bool ends_below(unsigned bit) const noexcept { return present_ >> bit == 0; }
  const StoredEntry& at(unsigned bit) const noexcept { return entries()[rank(present_, bit)]; }
  StoredEntry& at(unsigned bit) noexcept { return entries_[evicted_ + rank(present_, bit)]; }

  /// Makes room for so many more frames.
  void reserve(std::size_t more);
  /// The group must not be full; `bit` must not be present, nor lie below one that was evicted.
  void insert(unsigned bit, const StoredEntry& entry) noexcept;
  /// Appends leading headers while they ascend within the group and there is room. The first must
  /// lie beyond what is present.
  AppendedRun append(std::span<const FrameHeader> headers, const char* data) noexcept;
  /// Forgets the lowest position. Its room is freed with the group.
  void evict_lowest() noexcept {
    present_ &= present_ - 1;
    ++evicted_;
  }

private:
  std::uint64_t present_ = 0;
  std::unique_ptr<StoredEntry[]> entries_;
  std::uint8_t used_ = 0; ///< entries, evicted ones included
  std::uint8_t capacity_;
  std::uint8_t evicted_ = 0;
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
  void insert(std::uint64_t position, const StoredEntry& entry);

  /// Stores those leading headers that ascend within one group, beyond what that group holds; none
  /// when the first does not. Offsets count from `data`.
  AppendedRun append_run(std::span<const FrameHeader> headers, const char* data);

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
