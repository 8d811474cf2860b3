#include "archived_stream_impl.hpp"
#include "read_block.hpp"

#include <datastream/defaults.hpp>

#include <algorithm>
#include <functional>
#include <queue>
#include <ranges>
#include <string>
#include <tuple>
#include <utility>

namespace datastream {

using namespace format;

ArchivedStream::Impl::Impl(StreamId id, std::shared_ptr<SegmentSet> set, SnapshotPtr snapshot,
                           std::vector<StreamPart> parts)
    : id_(std::move(id)), set_(std::move(set)), snapshot_(std::move(snapshot)),
      parts_(std::move(parts)), kept_(defaults::archive_stream_blocks_bytes) {
  for (const StreamPart& part : parts_)
    extent_.add(part.extent);
}

std::optional<Position> ArchivedStream::Impl::first() const noexcept {
  return size() > 0 ? std::optional(extent_.lowest) : std::nullopt;
}

std::optional<Position> ArchivedStream::Impl::last() const noexcept {
  return size() > 0 ? std::optional(extent_.highest) : std::nullopt;
}

std::expected<ArchivedStream::Impl::BlocksPtr, ArchiveError>
ArchivedStream::Impl::blocks(std::size_t part) const {
  {
    const std::lock_guard lock(mutex_);
    if (const BlocksPtr* known = kept_.find(part))
      return *known;
  }
  auto blocks = take_blocks(parts_[part]);
  if (!blocks)
    return blocks;
  const std::lock_guard lock(mutex_);
  if (const BlocksPtr* known = kept_.find(part)) // somebody else has been faster
    return *known;
  return kept_.keep(part, *blocks, (*blocks)->bytes());
}

void ArchivedStream::Impl::let_go(std::size_t part) const {
  const std::lock_guard lock(mutex_);
  kept_.let_go(part);
}

std::expected<ArchivedStream::Impl::BlocksPtr, ArchiveError>
ArchivedStream::Impl::take_blocks(const StreamPart& part) const {
  const auto fails = [&](ArchiveError why) {
    why.lost = part.sequences;
    return std::unexpected(std::move(why));
  };
  const auto index = set_->index(*snapshot_, part.segment);
  if (!index)
    return fails(index.error());
  auto blocks = std::make_shared<StreamBlocks>(**index, id_, snapshot_->tip.end_sequence);
  if (blocks->checksum() != part.checksum) {
    auto stop = (*index)->state().stop;
    return fails(stop ? std::move(*stop)
                      : damaged(snapshot_->segments[part.segment].file->path(), 0,
                                {"the segment has not the blocks that it had"}));
  }
  if (!part.lost.empty())
    blocks->leave_out(part.lost);
  return blocks;
}

bool ArchivedStream::Impl::is_entry_of(const IndexEntry& entry, const StreamBlock& block) const {
  return entry.header.kind == BlockKind::frames &&
         entry.header.first_sequence == block.first_sequence &&
         entry.header.frames == block.block_frames &&
         std::ranges::any_of(entry.directory.streams, [&](const BlockStream& part) {
           return *part.stream == id_ && part.lowest == block.lowest &&
                  part.highest == block.highest && part.frames == block.frames;
         });
}

std::expected<StreamFrames, ArchiveError>
ArchivedStream::Impl::read(const StreamBlock& block) const {
  const std::size_t segment = *snapshot_->find(block.first_sequence);
  const auto file = snapshot_->segments[segment].file->file();
  if (!file)
    return std::unexpected(costing(file.error(), block.first_sequence, block.end_sequence()));
  auto entry = (*file)->read_entry_at(block.offset, UINT64_MAX);
  if (entry && !is_entry_of(*entry, block))
    entry = std::unexpected(damaged((*file)->path(), block.offset,
                                    {"the block is not the one in the segment's index"}));
  if (!entry)
    return std::unexpected(costing(entry.error(), block.first_sequence, block.end_sequence()));
  auto frames = read_frames(**file, *entry);
  if (!frames)
    return std::unexpected(std::move(frames.error()));
  StreamFrames read;
  read.headers.reserve(block.frames);
  for (const FrameBatch& batch : frames->batches) {
    if (batch.stream() != id_)
      continue;
    read.block = batch.block();
    const auto headers = batch.headers();
    read.headers.insert(read.headers.end(), headers.begin(), headers.end());
  }
  if (!std::ranges::is_sorted(read.headers, {}, &FrameHeader::position))
    std::ranges::sort(read.headers, {}, [](const FrameHeader& header) {
      return std::tuple(header.position, header.offset, header.length); // as in the body
    });
  return read;
}

std::expected<std::optional<Frame>, ArchiveError>
ArchivedStream::Impl::at(Position position) const {
  // In the order of their sequences: what was stored first counts.
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const StreamExtent& extent = parts_[part].extent;
    if (position < extent.lowest || position > extent.highest)
      continue;
    const auto blocks = this->blocks(part);
    if (!blocks)
      return std::unexpected(blocks.error());
    for (const StreamBlock& block : (*blocks)->around(position)) {
      const auto frames = read(block);
      if (!frames)
        return std::unexpected(frames.error());
      const auto found =
          std::ranges::lower_bound(frames->headers, position, {}, &FrameHeader::position);
      if (found != frames->headers.end() && found->position == position)
        return Frame{found->channel, position,
                     std::string(frames->block->data() + found->offset, found->length)};
    }
  }
  return std::nullopt;
}

std::expected<Position, ArchiveError>
ArchivedStream::Impl::begin_of_last(std::uint64_t count) const {
  if (count >= size())
    return extent_.lowest;
  std::vector<std::size_t> order(parts_.size());
  std::ranges::copy(std::views::iota(std::size_t{0}, order.size()), order.begin());
  std::ranges::sort(order, std::greater(),
                    [&](std::size_t part) { return parts_[part].extent.highest; });
  // The blocks that begin last, as few as have so many frames; the one that begins first in front.
  using Begin = std::pair<Position, std::uint32_t>;
  std::priority_queue<Begin, std::vector<Begin>, std::greater<>> tail;
  std::uint64_t frames = 0;
  for (const std::size_t part : order) {
    if (frames >= count && parts_[part].extent.highest <= tail.top().first)
      break;
    const auto blocks = this->blocks(part);
    if (!blocks)
      return std::unexpected(blocks.error());
    for (const StreamBlock& block : **blocks) {
      tail.emplace(block.lowest, block.frames);
      frames += block.frames;
      for (; frames - tail.top().second >= count; tail.pop())
        frames -= tail.top().second;
    }
  }
  return tail.top().first;
}

std::shared_ptr<const ArchivedStream::Impl>
ArchivedStream::Impl::without(SequenceRange lost) const {
  std::vector<StreamPart> left;
  left.reserve(parts_.size());
  for (const StreamPart& whole : parts_) {
    const SequenceRange& has = whole.sequences;
    if (lost.first <= has.first && lost.last >= has.last)
      continue;
    StreamPart part = whole;
    if (lost.first <= has.last && lost.last >= has.first) {
      part.lost.push_back(lost);
      // If the index cannot be read now, all of the segment counts until that turns out.
      if (const auto blocks = take_blocks(part))
        part.extent = (*blocks)->extent();
    }
    if (part.extent.frames > 0)
      left.push_back(std::move(part));
  }
  return std::make_shared<const Impl>(id_, set_, snapshot_, std::move(left));
}

ArchivedStream::ArchivedStream(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

const StreamId& ArchivedStream::id() const noexcept {
  return impl_->id();
}

std::uint64_t ArchivedStream::size() const noexcept {
  return impl_->size();
}

std::optional<Position> ArchivedStream::first() const noexcept {
  return impl_->first();
}

std::optional<Position> ArchivedStream::last() const noexcept {
  return impl_->last();
}

ArchivedStream::Frames ArchivedStream::frames_from(Position position) const {
  return {impl_, position};
}

ArchivedStream ArchivedStream::without(SequenceRange lost) const {
  return ArchivedStream(impl_->without(lost));
}

std::expected<std::optional<Frame>, ArchiveError> ArchivedStream::at(Position position) const {
  return impl_->at(position);
}

std::expected<StoredStream, ArchiveError> ArchivedStream::load(Position lowest,
                                                               Position highest) const {
  StoredStream loaded(id());
  try {
    for (const FrameView& frame : frames_from(lowest)) {
      if (frame.position > highest)
        break;
      loaded.accept(frame);
    }
  } catch (const ArchiveReadFailed& failed) {
    return std::unexpected(failed.error());
  }
  return loaded;
}

std::expected<StoredStream, ArchiveError> ArchivedStream::load_last(std::size_t count) const {
  StoredStream last(id());
  if (count == 0 || empty())
    return last;
  // Whole blocks first: how many of their frames are too many is not known before.
  for (std::uint64_t wanted = count;; wanted *= 2) {
    const auto begin = impl_->begin_of_last(wanted);
    if (!begin)
      return std::unexpected(begin.error());
    const auto blocks = load(*begin, *impl_->last());
    if (!blocks)
      return std::unexpected(blocks.error());
    if (blocks->size() < count && *begin > *impl_->first())
      continue; // some are there twice
    const std::size_t more = blocks->size() - std::min(count, blocks->size());
    for (const FrameView& frame : blocks->frames() | std::views::drop(more))
      last.accept(frame);
    return last;
  }
}

} // namespace datastream
