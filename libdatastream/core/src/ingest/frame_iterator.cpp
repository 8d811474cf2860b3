#include <datastream/ingest/detail/frame_iterator.hpp>

namespace datastream::detail {

FrameIterator FrameIterator::end(const ChunkMap& chunks) noexcept {
  FrameIterator it;
  it.chunks_ = &chunks;
  it.chunk_ = chunks.end();
  return it;
}

FrameIterator FrameIterator::begin(const ChunkMap& chunks) noexcept {
  FrameIterator it = end(chunks);
  if (!chunks.empty()) {
    it.chunk_ = chunks.begin();
    it.enter(it.chunk_->second.groups.data());
  }
  return it;
}

FrameIterator FrameIterator::lower_bound(const ChunkMap& chunks, std::uint64_t position) noexcept {
  FrameIterator it = end(chunks);
  it.chunk_ = chunks.lower_bound(chunk_key(position));
  if (it.chunk_ == chunks.end())
    return it;
  const FrameChunk& chunk = it.chunk_->second;
  if (it.chunk_->first != chunk_key(position)) {
    it.enter(chunk.groups.data());
    return it;
  }
  const unsigned index = rank(chunk.present, group_number(position));
  if (index == chunk.groups.size()) {
    it.group_ = &chunk.groups.back();
    it.next_group();
    return it;
  }
  it.enter(&chunk.groups[index]);
  while (it.entry_ && (*it).position.value < position) // at most the rest of this group
    ++it;
  return it;
}

void FrameIterator::enter(const FrameGroup* group) noexcept {
  group_ = group;
  base_ = base_of(chunk_->first, group->number());
  rest_ = group->present();
  entry_ = group->entry(static_cast<unsigned>(std::countr_zero(rest_)));
}

void FrameIterator::next_group() noexcept {
  const auto& groups = chunk_->second.groups;
  if (group_ != &groups.back())
    return enter(group_ + 1);
  if (++chunk_ == chunks_->end())
    *this = end(*chunks_);
  else
    enter(chunk_->second.groups.data());
}

void FrameIterator::previous_group() noexcept {
  if (entry_ && group_ != chunk_->second.groups.data()) {
    enter(group_ - 1);
  } else {
    --chunk_;
    enter(&chunk_->second.groups.back());
  }
  rest_ = std::bit_floor(rest_);
  entry_ = group_->entry(static_cast<unsigned>(std::countr_zero(rest_)));
}

} // namespace datastream::detail
