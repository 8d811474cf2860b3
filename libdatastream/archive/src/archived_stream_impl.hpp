#pragma once

#include "segment_set.hpp"

#include <datastream/archive/archived_stream.hpp>
#include <datastream/model/block.hpp>
#include <datastream/model/frame_batch.hpp>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
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

/// The frames that a block has of a stream, in position order.
struct StreamFrames {
  BlockPtr block;
  std::vector<FrameHeader> headers;
};

class ArchivedStream::Impl {
public:
  /// `blocks`: of segments of the snapshot.
  Impl(StreamId id, SnapshotPtr snapshot, std::vector<StreamBlock> blocks);

  const StreamId& id() const noexcept { return id_; }
  const SnapshotPtr& snapshot() const noexcept { return snapshot_; }
  std::uint64_t size() const noexcept { return size_; }
  std::optional<Position> first() const noexcept;
  std::optional<Position> last() const noexcept;

  /// Ascending by lowest position, and by sequence where that is the same.
  const std::vector<StreamBlock>& blocks() const noexcept { return blocks_; }
  /// The first block that may have a position, or one above it.
  std::size_t first_reaching(Position position) const;
  /// A position that at least `count` frames are not below.
  Position begin_of_last(std::size_t count) const;

  std::expected<StreamFrames, ArchiveError> read(const StreamBlock& block) const;

private:
  /// Whether an entry is that of this block.
  bool is_entry_of(const format::IndexEntry& entry, const StreamBlock& block) const;

  StreamId id_;
  SnapshotPtr snapshot_;
  std::vector<StreamBlock> blocks_;
  std::vector<Position> reach_; ///< for each block, the highest position up to and with it
  std::uint64_t size_ = 0;
};

} // namespace datastream
