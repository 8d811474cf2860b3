#include "archived_stream_impl.hpp"
#include "read_block.hpp"

#include <datastream/defaults.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <list>
#include <ranges>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace datastream {

using namespace format;

ArchivedStream::Impl::Impl(StreamId id, SnapshotPtr snapshot, std::vector<StreamBlock> blocks)
    : id_(std::move(id)), snapshot_(std::move(snapshot)), blocks_(std::move(blocks)) {
  std::ranges::sort(blocks_, {}, [](const StreamBlock& block) {
    return std::pair(block.lowest, block.first_sequence);
  });
  blocks_.shrink_to_fit();
  reach_.reserve(blocks_.size());
  for (const StreamBlock& block : blocks_) {
    reach_.push_back(reach_.empty() ? block.highest : std::max(reach_.back(), block.highest));
    size_ += block.frames;
  }
}

std::optional<Position> ArchivedStream::Impl::first() const noexcept {
  return blocks_.empty() ? std::nullopt : std::optional(blocks_.front().lowest);
}

std::optional<Position> ArchivedStream::Impl::last() const noexcept {
  return reach_.empty() ? std::nullopt : std::optional(reach_.back());
}

std::size_t ArchivedStream::Impl::first_reaching(Position position) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(reach_, position) - reach_.begin());
}

Position ArchivedStream::Impl::begin_of_last(std::size_t count) const {
  std::uint64_t frames = 0;
  for (std::size_t i = blocks_.size(); i-- > 0;) {
    frames += blocks_[i].frames;
    if (frames >= count)
      return blocks_[i].lowest;
  }
  return {};
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

/// The blocks that have been reached, as a heap with the lowest position in front. Before a
/// position is shown, every block that may have a lower one has been reached. What was read of them
/// is kept up to a bound: what was not in front for longest is let go, and read again.
class ArchivedStream::Iterator::Walk {
public:
  Walk(std::shared_ptr<const Impl> stream, Position from)
      : stream_(std::move(stream)), from_(from), next_(stream_->first_reaching(from)) {
    reach();
    read_front();
  }

  bool done() const noexcept { return reached_.empty(); }
  Position position() const noexcept { return reached_.front().position; }
  FrameView frame() const noexcept {
    const StreamFrames& frames = kept_.front().frames;
    const FrameHeader& header = frames.headers[reached_.front().at];
    return {
        header.channel, header.position, {frames.block->data() + header.offset, header.length}, {}};
  }

  void advance() {
    const Position before = position();
    do {
      step();
      reach();
      read_front();
    } while (!done() && position() == before); // what was stored first stays
  }

private:
  struct Reached {
    std::size_t block = 0; ///< which of the stream's
    std::uint64_t sequence = 0;
    std::size_t at = 0; ///< which of its frames is next
    Position position;  ///< of that one

    bool operator>(const Reached& other) const noexcept {
      return position != other.position ? position > other.position : sequence > other.sequence;
    }
  };
  struct Kept {
    std::size_t block = 0;
    StreamFrames frames;

    std::size_t bytes() const noexcept {
      return frames.block->capacity() + frames.headers.size() * sizeof(FrameHeader);
    }
  };

  void step() {
    std::ranges::pop_heap(reached_, std::greater());
    Reached& stepped = reached_.back();
    const std::vector<FrameHeader>& headers = kept_.front().frames.headers;
    if (++stepped.at == headers.size()) {
      let_go(kept_.begin());
      reached_.pop_back();
      return;
    }
    stepped.position = headers[stepped.at].position;
    std::ranges::push_heap(reached_, std::greater());
  }

  void reach() {
    const std::vector<StreamBlock>& blocks = stream_->blocks();
    for (; next_ < blocks.size() && (done() || blocks[next_].lowest <= position()); ++next_)
      if (blocks[next_].highest >= from_)
        take(next_);
  }

  void take(std::size_t block) {
    const std::vector<FrameHeader>& headers = read(block).headers;
    const auto first = std::ranges::lower_bound(headers, from_, {}, &FrameHeader::position);
    reached_.push_back({block, stream_->blocks()[block].first_sequence,
                        static_cast<std::size_t>(first - headers.begin()), first->position});
    std::ranges::push_heap(reached_, std::greater());
  }

  /// What is in front of the heap is what was read last.
  void read_front() {
    if (!done() && (kept_.empty() || kept_.front().block != reached_.front().block))
      read(reached_.front().block);
  }

  const StreamFrames& read(std::size_t block) {
    if (const auto known = where_.find(block); known != where_.end()) {
      kept_.splice(kept_.begin(), kept_, known->second);
      return kept_.front().frames;
    }
    auto frames = stream_->read(stream_->blocks()[block]);
    if (!frames)
      throw ArchiveReadFailed(std::move(frames.error()));
    kept_.push_front({block, std::move(*frames)});
    where_.emplace(block, kept_.begin());
    bytes_ += kept_.front().bytes();
    while (bytes_ > defaults::archive_view_bytes && kept_.size() > 1)
      let_go(std::prev(kept_.end()));
    return kept_.front().frames;
  }

  void let_go(std::list<Kept>::iterator kept) {
    bytes_ -= kept->bytes();
    where_.erase(kept->block);
    kept_.erase(kept);
  }

  std::shared_ptr<const Impl> stream_;
  Position from_;
  std::size_t next_; ///< the first block that has not been reached
  std::vector<Reached> reached_;
  std::list<Kept> kept_; ///< of blocks that have been reached, the one that was read last first
  std::unordered_map<std::size_t, std::list<Kept>::iterator> where_;
  std::size_t bytes_ = 0; ///< of those that are kept
};

ArchivedStream::Iterator::Iterator() = default;
ArchivedStream::Iterator::Iterator(std::unique_ptr<Walk> walk) : walk_(std::move(walk)) {}
ArchivedStream::Iterator::Iterator(Iterator&&) noexcept = default;
ArchivedStream::Iterator& ArchivedStream::Iterator::operator=(Iterator&&) noexcept = default;
ArchivedStream::Iterator::~Iterator() = default;

FrameView ArchivedStream::Iterator::operator*() const noexcept {
  return walk_->frame();
}

Position ArchivedStream::Iterator::position() const noexcept {
  return walk_->position();
}

ArchivedStream::Iterator& ArchivedStream::Iterator::operator++() {
  walk_->advance();
  return *this;
}

bool ArchivedStream::Iterator::operator==(std::default_sentinel_t) const noexcept {
  return !walk_ || walk_->done();
}

ArchivedStream::Iterator ArchivedStream::Frames::begin() const {
  return Iterator(std::make_unique<Iterator::Walk>(stream_, from_));
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
  std::vector<StreamBlock> blocks = impl_->blocks();
  std::erase_if(blocks, [&](const StreamBlock& block) {
    return block.first_sequence <= lost.last.value && block.end_sequence() > lost.first.value;
  });
  return ArchivedStream(std::make_shared<const Impl>(id(), impl_->snapshot(), std::move(blocks)));
}

std::expected<std::optional<Frame>, ArchiveError> ArchivedStream::at(Position position) const {
  const std::vector<StreamBlock>& blocks = impl_->blocks();
  for (std::size_t i = impl_->first_reaching(position);
       i < blocks.size() && blocks[i].lowest <= position; ++i) {
    if (blocks[i].highest < position)
      continue;
    const auto frames = impl_->read(blocks[i]);
    if (!frames)
      return std::unexpected(frames.error());
    const auto found =
        std::ranges::lower_bound(frames->headers, position, {}, &FrameHeader::position);
    if (found != frames->headers.end() && found->position == position)
      return Frame{found->channel, position,
                   std::string(frames->block->data() + found->offset, found->length)};
  }
  return std::nullopt;
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
  const auto blocks = load(impl_->begin_of_last(count), *impl_->last());
  if (!blocks)
    return std::unexpected(blocks.error());
  const std::size_t more = blocks->size() - std::min(count, blocks->size());
  for (const FrameView& frame : blocks->frames() | std::views::drop(more))
    last.accept(frame);
  return last;
}

} // namespace datastream
