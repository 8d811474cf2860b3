#pragma once

#include "segment.hpp"

#include <datastream/archive/archived_stream.hpp>
#include <datastream/model/block.hpp>
#include <datastream/model/frame_batch.hpp>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <vector>

namespace datastream {

/// A block that has frames of a stream. What else its directory says is read again with its body,
/// so that many blocks cost little memory.
struct StreamBlock {
  std::shared_ptr<Segment> segment;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t first_sequence = 0;
  std::uint64_t end_sequence = 0;
  std::uint64_t previous = 0; ///< checksum of the block before it
  std::uint64_t checksum = 0;
  Position lowest; ///< of the stream's frames
  Position highest;
  std::uint32_t frames = 0;
};

/// The frames that a block has of a stream, in position order.
struct StreamFrames {
  BlockPtr block;
  std::vector<FrameHeader> headers;
};

class ArchivedStream::Impl {
public:
  /// `blocks` in the order of their sequences.
  Impl(StreamId id, std::vector<StreamBlock> blocks);

  const StreamId& id() const noexcept { return id_; }
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
  StreamId id_;
  std::vector<StreamBlock> blocks_;
  std::vector<Position> reach_; ///< for each block, the highest position up to and with it
  std::uint64_t size_ = 0;
};

} // namespace datastream
