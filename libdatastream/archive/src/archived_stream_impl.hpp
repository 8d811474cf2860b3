#pragma once

#include "recently_used.hpp"
#include "segment_set.hpp"
#include "stream_blocks.hpp"

#include <datastream/archive/archived_stream.hpp>
#include <datastream/model/block.hpp>
#include <datastream/model/frame_batch.hpp>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace datastream {

/// What a segment has of a stream: all that is kept of it while nobody reads there.
struct StreamPart {
  std::size_t segment = 0;         ///< of the snapshot
  SequenceRange sequences;         ///< from the first to the last of its blocks
  std::uint64_t checksum = 0;      ///< of these blocks
  StreamExtent extent;             ///< without those that are lost
  std::vector<SequenceRange> lost; ///< what was left out here
};

/// The frames that a block has of a stream, in position order.
struct StreamFrames {
  BlockPtr block;
  std::vector<FrameHeader> headers;
};

/// Thread safety: const functions, any thread. No lock is held while something is read.
class ArchivedStream::Impl {
public:
  using BlocksPtr = std::shared_ptr<const StreamBlocks>;

  /// `parts`: ascending by segment, none of them empty.
  Impl(StreamId id, std::shared_ptr<SegmentSet> set, SnapshotPtr snapshot,
       std::vector<StreamPart> parts);

  const StreamId& id() const noexcept { return id_; }
  std::uint64_t size() const noexcept { return extent_.frames; }
  std::optional<Position> first() const noexcept;
  std::optional<Position> last() const noexcept;

  const std::vector<StreamPart>& parts() const noexcept { return parts_; }
  /// The blocks of a part. Those that were used last are kept, up to a bound.
  std::expected<BlocksPtr, ArchiveError> blocks(std::size_t part) const;
  /// Nobody is expected to need the blocks of this part again.
  void let_go(std::size_t part) const;

  std::expected<StreamFrames, ArchiveError> read(const StreamBlock& block) const;
  std::expected<std::optional<Frame>, ArchiveError> at(Position position) const;
  /// A position that at least `count` frames are not below, or all.
  std::expected<Position, ArchiveError> begin_of_last(std::uint64_t count) const;

  std::shared_ptr<const Impl> without(SequenceRange lost) const;

private:
  std::expected<BlocksPtr, ArchiveError> take_blocks(const StreamPart& part) const;
  /// Whether an entry is that of this block.
  bool is_entry_of(const format::IndexEntry& entry, const StreamBlock& block) const;

  StreamId id_;
  std::shared_ptr<SegmentSet> set_;
  SnapshotPtr snapshot_;
  std::vector<StreamPart> parts_;
  StreamExtent extent_; ///< of all parts

  mutable std::mutex mutex_;
  mutable RecentlyUsed<std::size_t, BlocksPtr> kept_; ///< by part
};

} // namespace datastream
