#pragma once
/// What will be committed together.

#include "format/frames_block.hpp"
#include "stored_positions.hpp"

#include <datastream/model/descriptor.hpp>
#include <datastream/model/frame.hpp>
#include <datastream/pipe/event_batch.hpp>

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace datastream {

/// What was said of streams beside their frames. It goes from group to group without memory.
struct Said {
  std::list<Declaration> declarations;
  std::list<StreamStart> starts;
  std::list<StreamEnd> ends;

  std::size_t size() const noexcept { return declarations.size() + starts.size() + ends.size(); }
  bool empty() const noexcept { return declarations.empty() && starts.empty() && ends.empty(); }
  /// Puts `later` behind this.
  void append(Said&& later) noexcept;
};

/// A block of frames, and what its segment must have declared before it.
struct FilledBlock {
  format::UnplacedBlock block;
  std::vector<format::BlockStream> streams;
};

/// Frames of many batches and streams, as blocks, and what was said of them. Throws
/// `std::bad_alloc`.
///
/// Thread safety: one owner.
class Group {
public:
  using Clock = std::chrono::steady_clock;

  explicit Group(std::size_t block_bytes) : block_bytes_(block_bytes) {}

  /// What follows is of this stream and arrived at this time.
  void begin_batch(const std::shared_ptr<const StreamId>& stream, std::int64_t arrival);
  /// Adds a frame of that stream; a block that is full is compressed at once.
  void add(const FrameView& frame, format::Compressor& compressor);
  /// Takes what was said; at the front, if it is older.
  void say(Said&& said) noexcept;
  void say_first(Said&& said) noexcept;

  bool empty() const noexcept { return frames_ == 0 && said_.empty(); }
  std::uint64_t frames() const noexcept { return frames_; }
  /// About what it takes, uncompressed.
  std::size_t bytes() const noexcept { return filled_bytes_ + builder_.bytes(); }
  /// What its blocks add to the index of their segment.
  std::size_t index_bytes() const noexcept { return index_bytes_; }
  /// When the first of it came.
  Clock::time_point begun() const noexcept { return begun_; }

  const Said& said() const noexcept { return said_; }
  Said take_said() noexcept { return std::exchange(said_, {}); }
  /// Forgets the frames, not what was said.
  void drop_frames() noexcept;
  /// Compresses what there is of the last block: nothing more is to be added to it.
  void close_block(format::Compressor& compressor);
  /// Closes the last block, and gives all of them away.
  std::vector<FilledBlock> take_blocks(format::Compressor& compressor);

  /// Memory of a block that was written, for one that will be: touching new memory costs more than
  /// filling it.
  void reuse(std::string&& memory) noexcept;
  /// Forgets everything but that memory.
  void clear() noexcept;

private:
  void note_begin();
  std::size_t block_bytes_;
  std::uint64_t frames_ = 0;
  std::size_t filled_bytes_ = 0;
  std::size_t index_bytes_ = 0;
  Clock::time_point begun_;
  std::shared_ptr<const StreamId> stream_;
  std::int64_t arrival_ = 0;
  format::FramesBlockBuilder builder_;
  std::vector<FilledBlock> filled_;
  std::vector<std::string> memory_;
  Said said_;
};

} // namespace datastream
