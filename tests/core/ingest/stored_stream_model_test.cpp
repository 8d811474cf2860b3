/// A stored stream against the simplest store that could be right: a map of frames.

#include "batches.hpp"

#include <datastream/ingest/stored_stream.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <ranges>
#include <string>
#include <vector>

using namespace datastream;
using namespace ingest_test;
using Accepted = StoredStream::Accepted;

namespace {

const StreamId stream_id{"model", {1}};

class ModelStream {
public:
  explicit ModelStream(Retention retention) : retention_(retention) {}

  Accepted accept(const Frame& frame) {
    const Accepted accepted = store(frame);
    evict();
    return accepted;
  }

  std::size_t accept(std::span<const Frame> batch) {
    std::size_t stored = 0;
    for (const Frame& frame : batch)
      stored += store(frame) == Accepted::stored ? 1 : 0;
    evict();
    return stored;
  }

  void check(const StoredStream& stream) const {
    REQUIRE(stream.size() == frames_.size());
    REQUIRE(stream.payload_bytes() == bytes_);
    REQUIRE(std::ranges::equal(stream.frames(), frames_ | std::views::values, {},
                               &FrameView::to_frame));
    REQUIRE(std::ranges::equal(stream.frames() | std::views::reverse,
                               frames_ | std::views::values | std::views::reverse, {},
                               &FrameView::to_frame));
    std::vector<GapSpan> gaps;
    std::uint64_t missing = 0; // below what is still stored
    for (auto it = ever_.begin(); it != ever_.end(); ++it) {
      if (it == ever_.begin() || std::prev(it)->first == it->first - 1)
        continue;
      const GapSpan gap{{std::prev(it)->first + 1}, {it->first - 1}};
      if (frames_.contains(it->first))
        gaps.push_back(gap);
      else
        missing += gap.count();
    }
    REQUIRE(std::ranges::equal(stream.gaps(), gaps));
    REQUIRE((stream.evicted() ? stream.evicted()->missing : 0) == missing);
    for (const std::uint64_t probe : probes_) {
      const auto it = frames_.find(probe);
      const auto view = stream.at({probe});
      REQUIRE(view.has_value() == (it != frames_.end()));
      if (view)
        REQUIRE(view->to_frame() == it->second);
      const auto rest = std::ranges::subrange(frames_.lower_bound(probe), frames_.end());
      REQUIRE(std::ranges::equal(stream.frames_from({probe}), rest | std::views::values, {},
                                 &FrameView::to_frame));
    }
  }

  void check_ledger(const StoredStream& stream) const {
    const IngestLedger ledger = stream.ledger();
    REQUIRE(ledger.balanced());
    REQUIRE(ledger.arrived == arrived_);
    REQUIRE(ledger.stored == ever_.size());
    REQUIRE(ledger.duplicates == duplicates_);
    REQUIRE(ledger.conflicts == conflicts_);
    REQUIRE(ledger.late_for_evicted == late_);
    REQUIRE(ledger.evicted == ever_.size() - frames_.size());
    REQUIRE(stream.size() <= retention_.frames);
    REQUIRE(stream.payload_bytes() <= retention_.bytes);
    REQUIRE(stream.memory_bytes() < 4 * stream.payload_bytes() + (5U << 20U) + 400 * stream.size());
    if (ever_.empty())
      return;
    REQUIRE(ledger.lowest_stored == Position{ever_.begin()->first});
    REQUIRE(ledger.highest_stored == Position{ever_.rbegin()->first});
    REQUIRE(ledger.interior_gaps() ==
            ever_.rbegin()->first - ever_.begin()->first - (ever_.size() - 1));
  }

private:
  Accepted store(const Frame& frame) {
    ++arrived_;
    const std::uint64_t position = frame.position.value;
    if (probes_.size() < 20)
      probes_.push_back(position + probes_.size() * 16); // on, near and far from stored ones
    if (evicted_last_ && position <= *evicted_last_) {
      ++late_;
      return Accepted::late_for_evicted;
    }
    const auto [it, fresh] = frames_.try_emplace(position, frame);
    if (fresh) {
      ever_.emplace(position, true);
      bytes_ += frame.payload.size();
      return Accepted::stored;
    }
    const bool same = it->second == frame;
    ++(same ? duplicates_ : conflicts_);
    return same ? Accepted::duplicate : Accepted::conflict;
  }

  void evict() {
    while (frames_.size() > retention_.frames || bytes_ > retention_.bytes) {
      bytes_ -= frames_.begin()->second.payload.size();
      evicted_last_ = frames_.begin()->first;
      frames_.erase(frames_.begin());
    }
  }

  Retention retention_;
  std::map<std::uint64_t, Frame> frames_;
  std::map<std::uint64_t, bool> ever_;
  std::vector<std::uint64_t> probes_;
  std::optional<std::uint64_t> evicted_last_;
  std::size_t bytes_ = 0;
  std::uint64_t arrived_ = 0;
  std::uint64_t duplicates_ = 0;
  std::uint64_t conflicts_ = 0;
  std::uint64_t late_ = 0;
};

/// Draws actions from one seed.
class Chance {
public:
  explicit Chance(std::uint64_t seed) : random_(seed), shape_(static_cast<int>(below(6))) {}

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  Retention retention() {
    switch (below(4)) {
    case 0:
      return {.frames = below(300)};
    case 1:
      return {.bytes = below(20'000)};
    case 2:
      return {.frames = below(2000), .bytes = below(100'000)};
    default:
      return {};
    }
  }

  /// Each round has positions of one shape, with others now and then.
  std::uint64_t position() {
    constexpr std::uint64_t top = std::numeric_limits<std::uint64_t>::max();
    switch (below(10) == 0 ? static_cast<int>(below(6)) : shape_) {
    case 0: // in order, with holes
      return next_ += below(10) == 0 ? 1 + below(100) : 1;
    case 1: // jittered
      return (next_ += 1) + below(200);
    case 2: // at random within some groups
      return below(500);
    case 3: // far apart
      return below(64) * 4096 + below(2);
    case 4: // at the ends of the space
      return below(2) == 0 ? below(70) : top - below(70);
    default:
      return random_() >> below(64);
    }
  }

  std::string payload() {
    // Few letters, so that a duplicate of other content is likely.
    std::size_t bytes = below(4) == 0 ? below(2) : below(200);
    if (below(300) == 0)
      bytes = 66'000;
    return std::string(bytes, static_cast<char>('a' + below(2)));
  }

  Frame frame() {
    Frame frame{{static_cast<std::uint32_t>(1 + below(8) / 7)}, {position()}, payload()};
    if (!sent_.empty() && below(5) == 0)
      frame = sent_[below(sent_.size())];
    if (!sent_.empty() && below(20) == 0)
      frame.position = sent_[below(sent_.size())].position;
    sent_.push_back(frame);
    return frame;
  }

  std::vector<Frame> frames(std::size_t count) {
    std::vector<Frame> result;
    while (result.size() < count)
      result.push_back(frame());
    return result;
  }

private:
  std::mt19937_64 random_;
  int shape_;
  std::uint64_t next_ = 0;
  std::vector<Frame> sent_;
};

} // namespace

TEST_CASE("a_stored_stream_equals_a_map_of_frames") {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    Chance chance(seed);
    const Retention retention = chance.retention();
    ModelStream model(retention);
    StoredStream stream(stream_id, retention);
    for (int step = 0; step < 60; ++step) {
      CAPTURE(step);
      if (chance.below(3) != 0) {
        const Frame frame = chance.frame();
        REQUIRE(stream.accept(FrameView{frame.channel, frame.position, frame.payload, {}}) ==
                model.accept(frame));
      } else {
        // Slices of one batch, which overlap, in any order, in a block with or without slack.
        const std::vector<Frame> frames = chance.frames(1 + chance.below(200));
        std::size_t bytes = 0;
        for (const Frame& frame : frames)
          bytes += frame.payload.size();
        const FrameBatch batch = batch_in(
            allocate_block(bytes + (chance.below(3) == 0 ? chance.below(2 * bytes + 1) : 0)),
            stream_id, frames);
        for (std::uint64_t slices = 1 + chance.below(3); slices > 0; --slices) {
          const std::size_t first = chance.below(2) == 0 ? 0 : chance.below(frames.size());
          const std::size_t count = 1 + chance.below(frames.size() - first);
          REQUIRE(stream.accept(batch.slice(first, count)) ==
                  model.accept(std::span(frames).subspan(first, count)));
          model.check_ledger(stream);
        }
      }
      model.check_ledger(stream);
      if (step % 10 == 9)
        model.check(stream);
    }
  }
}
