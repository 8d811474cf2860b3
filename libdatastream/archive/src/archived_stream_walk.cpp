#include "archived_stream_impl.hpp"
#include "recently_used.hpp"

#include <datastream/archive/archived_stream.hpp>
#include <datastream/defaults.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace datastream {

/// A merge of the stream's blocks, each of which is in position order. Two heaps with the lowest
/// position in front: of segments, each by its next block, and of the blocks that have been
/// reached, each by its next frame. Before a position is shown, every block that may have a lower
/// one has been reached.
///
/// What was read of blocks is kept up to a bound, and so are lists of blocks, by the stream: what
/// was not used for longest is let go, and read again.
class ArchivedStream::Iterator::Walk {
public:
  Walk(std::shared_ptr<const Impl> stream, Position from);

  bool done() const noexcept { return reached_.empty(); }
  Position position() const noexcept { return reached_.front().position; }
  FrameView frame() const noexcept;
  void advance();

private:
  /// A segment that has blocks which have not been reached.
  struct Waiting {
    Position lowest; ///< no position of these blocks is below
    std::size_t part = 0;
    std::size_t next = 0; ///< which of the part's blocks

    bool operator>(const Waiting& other) const noexcept { return lowest > other.lowest; }
  };
  struct Reached {
    StreamBlock block;
    Position position;  ///< of its next frame
    std::size_t at = 0; ///< which of its frames that is

    bool operator>(const Reached& other) const noexcept {
      return position != other.position ? position > other.position
                                        : block.first_sequence > other.block.first_sequence;
    }
  };

  void step();
  void reach();
  void reach_in(Waiting segment);
  void take(const StreamBlock& block);
  void read_front();
  const StreamFrames& read(const StreamBlock& block);

  std::shared_ptr<const Impl> stream_;
  Position from_;
  std::vector<Waiting> waiting_;
  std::vector<Reached> reached_;
  RecentlyUsed<std::uint64_t, StreamFrames> frames_; ///< of blocks, by sequence
  const StreamFrames* front_ = nullptr;              ///< those of the block in front
};

ArchivedStream::Iterator::Walk::Walk(std::shared_ptr<const Impl> stream, Position from)
    : stream_(std::move(stream)), from_(from), frames_(defaults::archive_view_bytes) {
  const std::vector<StreamPart>& parts = stream_->parts();
  for (std::size_t part = 0; part < parts.size(); ++part)
    if (parts[part].extent.highest >= from_)
      waiting_.push_back({parts[part].extent.lowest, part});
  std::ranges::make_heap(waiting_, std::greater());
  reach();
  read_front();
}

FrameView ArchivedStream::Iterator::Walk::frame() const noexcept {
  const FrameHeader& header = front_->headers[reached_.front().at];
  return {
      header.channel, header.position, {front_->block->data() + header.offset, header.length}, {}};
}

void ArchivedStream::Iterator::Walk::advance() {
  const Position before = position();
  do {
    step();
    reach();
    read_front();
  } while (!done() && position() == before); // what was stored first stays
}

void ArchivedStream::Iterator::Walk::step() {
  std::ranges::pop_heap(reached_, std::greater());
  Reached& stepped = reached_.back();
  const std::vector<FrameHeader>& headers = front_->headers;
  if (++stepped.at == headers.size()) {
    frames_.let_go(stepped.block.first_sequence);
    reached_.pop_back();
    return;
  }
  stepped.position = headers[stepped.at].position;
  std::ranges::push_heap(reached_, std::greater());
}

void ArchivedStream::Iterator::Walk::reach() {
  while (!waiting_.empty() && (done() || waiting_.front().lowest <= position())) {
    std::ranges::pop_heap(waiting_, std::greater());
    const Waiting segment = waiting_.back();
    waiting_.pop_back();
    reach_in(segment);
  }
}

/// Takes the segment's next block, or finds that it is not yet to be taken.
void ArchivedStream::Iterator::Walk::reach_in(Waiting segment) {
  const auto blocks = stream_->blocks(segment.part);
  if (!blocks)
    throw ArchiveReadFailed(blocks.error());
  const auto skip = [&] {
    while (segment.next < (*blocks)->size() && (**blocks)[segment.next].highest < from_)
      ++segment.next;
  };
  skip();
  if (segment.next < (*blocks)->size() && (**blocks)[segment.next].lowest <= segment.lowest) {
    take((**blocks)[segment.next++]);
    skip();
  }
  if (segment.next == (*blocks)->size())
    return stream_->let_go(segment.part);
  segment.lowest = (**blocks)[segment.next].lowest;
  waiting_.push_back(segment);
  std::ranges::push_heap(waiting_, std::greater());
}

void ArchivedStream::Iterator::Walk::take(const StreamBlock& block) {
  const std::vector<FrameHeader>& headers = read(block).headers;
  const auto first = std::ranges::lower_bound(headers, from_, {}, &FrameHeader::position);
  reached_.push_back({block, first->position, static_cast<std::size_t>(first - headers.begin())});
  std::ranges::push_heap(reached_, std::greater());
}

void ArchivedStream::Iterator::Walk::read_front() {
  front_ = done() ? nullptr : &read(reached_.front().block);
}

const StreamFrames& ArchivedStream::Iterator::Walk::read(const StreamBlock& block) {
  if (const StreamFrames* known = frames_.find(block.first_sequence))
    return *known;
  auto frames = stream_->read(block);
  if (!frames)
    throw ArchiveReadFailed(std::move(frames.error()));
  const std::size_t bytes =
      frames->block->capacity() + frames->headers.size() * sizeof(FrameHeader);
  return frames_.keep(block.first_sequence, std::move(*frames), bytes);
}

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

} // namespace datastream
