#pragma once
/// The blocks that one segment has of one stream.

#include "segment.hpp"

#include <datastream/archive/archive_error.hpp>
#include <datastream/model/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace datastream {

/// A block that has frames of a stream. What else is known of it is read again with its body, and
/// its sequence tells its segment, so that many blocks cost little memory.
struct StreamBlock {
  std::uint64_t offset = 0;
  std::uint64_t first_sequence = 0;
  Position lowest; ///< of the stream's frames
  Position highest;
  std::uint32_t frames = 0;       ///< of the stream
  std::uint32_t block_frames = 0; ///< of all streams

  std::uint64_t end_sequence() const { return first_sequence + block_frames; }
};
static_assert(sizeof(StreamBlock) == 40);

/// What some blocks have of a stream.
struct StreamExtent {
  std::uint64_t frames = 0; ///< with none, nothing is known of the positions
  Position lowest;
  Position highest;

  void add(const StreamExtent& other) noexcept;
};

/// Ascending by lowest position, and by sequence where that is the same.
class StreamBlocks {
public:
  /// Those before a sequence; a segment that grows has more.
  StreamBlocks(const SegmentIndex& index, const StreamId& stream, std::uint64_t end_sequence);

  /// Leaves out those that have any of these sequences.
  void leave_out(const std::vector<SequenceRange>& lost);

  bool empty() const noexcept { return blocks_.empty(); }
  std::size_t size() const noexcept { return blocks_.size(); }
  const StreamBlock& operator[](std::size_t at) const noexcept { return blocks_[at]; }
  auto begin() const noexcept { return blocks_.begin(); }
  auto end() const noexcept { return blocks_.end(); }

  /// Those that may have a position, ascending by sequence.
  std::vector<StreamBlock> around(Position position) const;

  StreamExtent extent() const noexcept;
  /// From the first to the last one of all blocks, also of those that were left out.
  SequenceRange sequences() const noexcept { return sequences_; }
  /// Of the headers of all blocks, also those that were left out: tells whether the index of the
  /// segment has the same ones when it is read again.
  std::uint64_t checksum() const noexcept { return checksum_; }
  /// Of memory.
  std::size_t bytes() const noexcept;

private:
  void find_reach();

  std::vector<StreamBlock> blocks_;
  std::vector<Position> reach_; ///< for each block, the highest position up to and with it
  SequenceRange sequences_;
  std::uint64_t checksum_ = 0;
};

} // namespace datastream
