#pragma once
/// Batches for the tests of ingest.

#include <datastream/model/block.hpp>
#include <datastream/model/frame.hpp>
#include <datastream/model/frame_batch.hpp>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ingest_test {

/// A block that tells when it is let go of.
class WatchedBlock final : public datastream::Block {
public:
  static datastream::BlockPtr make(std::size_t bytes, int& disposed) {
    return datastream::BlockPtr::adopt(new WatchedBlock(bytes, disposed));
  }

private:
  WatchedBlock(std::size_t bytes, int& disposed)
      : Block(nullptr, bytes, &dispose), bytes_(std::make_unique<char[]>(bytes)),
        disposed_(disposed) {
    point_to(bytes_.get());
  }
  static void dispose(Block* block) noexcept {
    auto* self = static_cast<WatchedBlock*>(block);
    ++self->disposed_;
    delete self;
  }

  std::unique_ptr<char[]> bytes_;
  int& disposed_;
};

/// A block whose memory belongs to somebody else, who outlives it.
class BorrowedBlock final : public datastream::Block {
public:
  static datastream::BlockPtr make(char* data, std::size_t bytes) {
    return datastream::BlockPtr::adopt(new BorrowedBlock(data, bytes));
  }

private:
  BorrowedBlock(char* data, std::size_t bytes) : Block(data, bytes, &dispose) {}
  static void dispose(Block* block) noexcept { delete static_cast<BorrowedBlock*>(block); }
};

/// Copies the frames' payloads into a block, one behind the other.
inline datastream::FrameBatch batch_in(datastream::BlockPtr block,
                                       const datastream::StreamId& stream,
                                       std::span<const datastream::Frame> frames) {
  datastream::FrameBatchWriter writer{frames.size()};
  std::uint32_t offset = 0;
  for (const datastream::Frame& frame : frames) {
    const auto length = static_cast<std::uint32_t>(frame.payload.size());
    std::memcpy(block->data() + offset, frame.payload.data(), length);
    writer.append({frame.position, frame.channel, offset, length});
    offset += length;
  }
  return std::move(writer).finish(std::make_shared<const datastream::StreamId>(stream),
                                  std::move(block));
}

/// Frames of equal size at consecutive positions.
inline std::vector<datastream::Frame> run_of_frames(std::uint64_t first, std::size_t count,
                                                    std::size_t bytes) {
  std::vector<datastream::Frame> frames;
  for (std::size_t i = 0; i < count; ++i)
    frames.push_back({{1}, {first + i}, std::string(bytes, static_cast<char>('a' + i % 26))});
  return frames;
}

} // namespace ingest_test
