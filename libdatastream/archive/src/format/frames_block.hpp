#pragma once
/// The block that has frames.

#include "block.hpp"

#include <datastream/model/frame.hpp>
#include <datastream/model/frame_batch.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace datastream::format {

/// Collects frames of any streams for one block. Throws `std::bad_alloc`, after which nothing was
/// added. One thread.
class FramesBlockBuilder {
public:
  /// What follows is of this stream, and arrived at this time.
  void begin_batch(const std::shared_ptr<const StreamId>& stream, std::int64_t arrival);
  /// Whether a frame more, of a stream that is new to it, stays within the format's bounds.
  bool has_room(const StreamId& stream, std::size_t payload_bytes) const;
  void add(const FrameView& frame);

  std::size_t frames() const noexcept { return table_.size(); }
  bool empty() const noexcept { return table_.empty(); }
  /// About what the block will take, uncompressed.
  std::size_t bytes() const noexcept {
    return payloads_.size() + table_.size() * frame_entry_bytes + directory_bytes_;
  }

  /// What it has so far of each stream: for what must precede it in a segment.
  const std::vector<BlockStream>& streams() const noexcept { return streams_; }

  /// Makes the block and begins another one.
  UnplacedBlock finish(Compressor& compressor);
  /// Begins another one.
  void clear() noexcept;
  /// Begins another one, whose payloads will be in this memory.
  void clear(std::string&& memory) noexcept;

private:
  struct Entry {
    std::uint64_t position;
    std::uint32_t channel;
    std::uint32_t length;
  };
  static_assert(sizeof(Entry) == frame_entry_bytes);

  void note_channel(std::uint32_t channel);

  std::string payloads_;
  std::vector<Entry> table_;
  std::vector<BlockStream> streams_;
  std::unordered_map<StreamId, std::uint32_t> index_of_;
  std::vector<BlockBatch> batches_;
  std::size_t directory_bytes_ = 0;
  std::uint32_t current_ = 0; ///< stream of the batch
  std::int64_t arrival_ = 0;
  bool batch_begins_ = false;
  std::array<std::uint64_t, 16> known_channels_{}; ///< channel + 1, of the current stream
};

/// A frames block in memory: its batches share the body.
struct FramesBlock {
  BlockDirectory directory;
  std::vector<FrameBatch> batches; ///< as in the directory
};

/// Reads a frames block of which header and directory were decoded. Throws `std::bad_alloc`.
Decoded<FramesBlock> decode_frames(const BlockHeader& header, BlockDirectory directory,
                                   const BlockPtr& body);

} // namespace datastream::format
