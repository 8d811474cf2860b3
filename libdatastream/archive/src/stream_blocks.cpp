#include "stream_blocks.hpp"

#include <algorithm>
#include <utility>

namespace datastream {

using namespace format;

void StreamExtent::add(const StreamExtent& other) noexcept {
  if (other.frames == 0)
    return;
  lowest = frames == 0 ? other.lowest : std::min(lowest, other.lowest);
  highest = frames == 0 ? other.highest : std::max(highest, other.highest);
  frames += other.frames;
}

StreamBlocks::StreamBlocks(const SegmentIndex& index, const StreamId& stream,
                           std::uint64_t end_sequence) {
  for (std::size_t i = 0, count = index.size(); i < count; ++i) {
    const IndexEntry& entry = index.entry(i);
    if (entry.header.kind != BlockKind::frames || entry.header.first_sequence >= end_sequence)
      continue;
    for (const BlockStream& part : entry.directory.streams) {
      if (*part.stream != stream)
        continue;
      blocks_.push_back({entry.offset, entry.header.first_sequence, part.lowest, part.highest,
                         part.frames, entry.header.frames});
      if (blocks_.size() == 1)
        sequences_.first = {entry.header.first_sequence};
      sequences_.last = {entry.header.end_sequence() - 1};
      checksum_ += entry.header.checksum;
    }
  }
  std::ranges::sort(blocks_, {}, [](const StreamBlock& block) {
    return std::pair(block.lowest, block.first_sequence);
  });
  blocks_.shrink_to_fit();
  find_reach();
}

void StreamBlocks::find_reach() {
  reach_.clear();
  reach_.reserve(blocks_.size());
  for (const StreamBlock& block : blocks_)
    reach_.push_back(reach_.empty() ? block.highest : std::max(reach_.back(), block.highest));
}

void StreamBlocks::leave_out(const std::vector<SequenceRange>& lost) {
  std::erase_if(blocks_, [&](const StreamBlock& block) {
    return std::ranges::any_of(lost, [&](const SequenceRange& range) {
      return block.first_sequence <= range.last.value && block.end_sequence() > range.first.value;
    });
  });
  find_reach();
}

std::vector<StreamBlock> StreamBlocks::around(Position position) const {
  std::vector<StreamBlock> found;
  auto at = static_cast<std::size_t>(std::ranges::lower_bound(reach_, position) - reach_.begin());
  for (; at < blocks_.size() && blocks_[at].lowest <= position; ++at)
    if (blocks_[at].highest >= position)
      found.push_back(blocks_[at]);
  std::ranges::sort(found, {}, &StreamBlock::first_sequence);
  return found;
}

StreamExtent StreamBlocks::extent() const noexcept {
  StreamExtent extent;
  for (const StreamBlock& block : blocks_)
    extent.add({block.frames, block.lowest, block.highest});
  return extent;
}

std::size_t StreamBlocks::bytes() const noexcept {
  return blocks_.capacity() * sizeof(StreamBlock) + reach_.capacity() * sizeof(Position);
}

} // namespace datastream
