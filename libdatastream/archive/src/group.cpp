#include "group.hpp"

#include <new>
#include <utility>
#include <vector>

namespace datastream {

void Said::append(Said&& later) noexcept {
  declarations.splice(declarations.end(), later.declarations);
  starts.splice(starts.end(), later.starts);
  ends.splice(ends.end(), later.ends);
}

void Group::note_begin() {
  if (empty())
    begun_ = Clock::now();
}

void Group::begin_batch(const std::shared_ptr<const StreamId>& stream, std::int64_t arrival) {
  stream_ = stream;
  arrival_ = arrival;
  builder_.begin_batch(stream, arrival);
}

void Group::add(const FrameView& frame, format::Compressor& compressor) {
  if (builder_.bytes() >= block_bytes_ || !builder_.has_room(*stream_, frame.payload.size())) {
    close_block(compressor);
    builder_.begin_batch(stream_, arrival_);
  }
  note_begin();
  builder_.add(frame);
  ++frames_;
}

void Group::say(Said&& said) noexcept {
  if (said.empty())
    return;
  note_begin();
  said_.append(std::move(said));
}

void Group::say_first(Said&& said) noexcept {
  if (said.empty())
    return;
  note_begin();
  said.append(std::move(said_));
  said_ = std::move(said);
}

void Group::close_block(format::Compressor& compressor) {
  if (builder_.empty())
    return;
  filled_.reserve(filled_.size() + 1);
  std::vector<format::BlockStream> streams = builder_.streams();
  // One that was begun when there was no memory for its frame.
  std::erase_if(streams, [](const format::BlockStream& stream) { return stream.frames == 0; });
  format::UnplacedBlock block = builder_.finish(compressor);
  filled_bytes_ += block.header.raw_bytes + block.directory.size();
  index_bytes_ += format::index_entry_bytes + block.directory.size();
  filled_.push_back({std::move(block), std::move(streams)});
  if (!memory_.empty()) {
    builder_.clear(std::move(memory_.back()));
    memory_.pop_back();
  }
}

void Group::drop_frames() noexcept {
  builder_.clear();
  filled_.clear();
  filled_bytes_ = 0;
  index_bytes_ = 0;
  frames_ = 0;
}

void Group::reuse(std::string&& memory) noexcept {
  constexpr std::size_t worth_keeping = 4096;
  if (memory.capacity() < worth_keeping || memory.capacity() > 4 * block_bytes_)
    return; // or that of a huge payload
  try {
    memory_.push_back(std::move(memory));
  } catch (const std::bad_alloc&) {
    // then it is freed
  }
}

void Group::clear() noexcept {
  drop_frames();
  said_ = {};
  stream_.reset();
}

std::vector<FilledBlock> Group::take_blocks(format::Compressor& compressor) {
  close_block(compressor);
  return std::move(filled_);
}

} // namespace datastream
