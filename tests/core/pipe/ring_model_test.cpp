/// The submission ring in every order of its steps that a few preemptions can bring about.

#include <under_tsan.hpp>

#if !DATASTREAM_UNDER_TSAN // in one thread there is nothing for it to see

#include "interleavings.hpp"

#include "../../../libdatastream/core/src/pipe/submission_ring_impl.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace datastream;
using interleavings::Explorer;

namespace {

/// A slab that is never used twice, and that notices what is written to it after its end.
class WatchedSlab final : public Block {
public:
  static constexpr std::size_t slab_bytes = 16; // two units, so that few frames need several
  static constexpr std::size_t margin = 16;     // as much as the largest payload runs over the end

  WatchedSlab() noexcept : Block(bytes_, sizeof bytes_, &dispose) {}

  bool disposed() const { return disposed_; }
  bool touched_after_its_end() const {
    return disposed_ && !std::ranges::all_of(bytes_, [](char byte) { return byte == remains; });
  }

private:
  static constexpr char remains = '\x7e';
  static void dispose(Block* block) noexcept {
    auto* self = static_cast<WatchedSlab*>(block);
    self->disposed_ = true;
    std::ranges::fill(self->bytes_, remains);
  }

  char bytes_[slab_bytes + margin];
  bool disposed_ = false;
};

std::list<WatchedSlab> all_slabs; // of one execution
std::size_t slabs_left = ~0U;     // until there is no memory

struct ModelPolicy {
  template <class T>
  using Atomic = interleavings::Atomic<T>;
  using Slab = WatchedSlab;
  static Slab* take_slab() noexcept {
    if (slabs_left == 0)
      return nullptr;
    --slabs_left;
    return &all_slabs.emplace_back();
  }
  static constexpr std::size_t slab_bytes = WatchedSlab::slab_bytes;
};

using Ring = BasicSubmissionRing<ModelPolicy>;

/// One call of a producer.
struct Submission {
  enum class Form { single, many, block } form = Form::single;
  std::vector<std::size_t> sizes = {8};
};

struct Scenario {
  std::size_t frames = 1;   // capacity
  std::size_t bytes = 1024; // capacity
  std::vector<std::vector<Submission>> producers;
  std::size_t before = 0;  // frames that went through before: where in its slabs the ring is
  bool close = false;      // one more thread closes the ring
  bool calls_fail = false; // the first call that a producer makes which will submit again fails
  std::size_t slabs = ~0U;
};

/// One execution of a scenario, and everything that must hold in it.
class Execution : public std::enable_shared_from_this<Execution> {
public:
  explicit Execution(const Scenario& scenario)
      : scenario_(scenario), most_seen_(scenario.producers.size()) {
    all_slabs.clear();
    slabs_left = ~0U;
    ring_ = std::make_unique<Ring>(scenario.frames, scenario.bytes);
    for (std::size_t i = 0; i < scenario.before; ++i) {
      ring_->submit(ChannelId{0}, payload(static_cast<std::uint32_t>(i), 8));
      ring_->drain(stream_, next_, earlier_);
    }
    next_ = 0;
    slabs_left = scenario.slabs;
  }

  Explorer::Program program() {
    Explorer::Program program;
    const auto self = shared_from_this();
    program.threads.push_back([self] { self->consume(); });
    for (std::size_t p = 0; p < scenario_.producers.size(); ++p)
      program.threads.push_back([self, p] { self->produce(p); });
    if (scenario_.close)
      program.threads.push_back([self] {
        self->ring_->close();
        self->closed_ = true;
        ++self->finished_;
      });
    threads_ = program.threads.size() - 1;
    program.observe = [self] { self->observe(); };
    program.finish = [self] { self->finish(); };
    return program;
  }

private:
  struct Accepted {
    std::uint64_t began; // on the clock of steps
    std::uint64_t returned;
    std::size_t size;
  };

  static std::string payload(std::uint32_t number, std::size_t size) {
    std::string bytes(size, static_cast<char>('a' + number));
    return bytes;
  }

  void produce(std::size_t producer) {
    std::uint32_t number = static_cast<std::uint32_t>(10 * producer);
    const auto& submissions = scenario_.producers[producer];
    for (const Submission& submission : submissions) {
      std::vector<std::string> texts;
      for (std::size_t i = 0; i < submission.sizes.size(); ++i)
        texts.push_back(payload(number + static_cast<std::uint32_t>(i), submission.sizes[i]));
      const std::vector<std::string_view> views(texts.begin(), texts.end());
      most_seen_[producer] = 0;
      const bool closed_before = closed_;
      const std::uint64_t began = ++clock_;
      Ring::Outcome outcome;
      // The channel is the number of a call's first frame.
      if (submission.form == Submission::Form::many)
        outcome = ring_->submit_many(ChannelId{number}, views);
      else if (submission.form == Submission::Form::single)
        outcome = ring_->submit(ChannelId{number}, views[0]);
      else
        outcome = ring_->submit_block(ChannelId{number}, adopt_string(std::string(views[0])));
      const std::uint64_t returned = ++clock_;
      for (std::uint32_t i = 0; i < outcome.accepted; ++i)
        accepted_[number + i] = {began, returned, views[i].size()};
      if (outcome.wake || (outcome.accepted < views.size() && ring_->take_over_call())) {
        if (calls_that_fail_ > 0 && &submission != &submissions.back()) {
          --calls_that_fail_;
          ring_->call_failed();
        } else {
          ++wakes_;
          wake_ = true;
        }
      }
      Explorer::require(!closed_before || outcome.accepted == 0, "accepted after the close");
      if (outcome.accepted < views.size())
        check_refusal(producer, outcome);
      number += static_cast<std::uint32_t>(views.size());
    }
    ++finished_;
  }

  void check_refusal(std::size_t producer, const Ring::Outcome& outcome) {
    switch (outcome.reason) {
    case LossReason::mux_frames_full:
      // A prefix is as long as what was queued when it was measured allowed.
      return Explorer::require(most_seen_[producer] + outcome.accepted >= scenario_.frames,
                               "refused with room");
    case LossReason::mux_bytes_full: // scenarios with a small byte bound have frames of 8 bytes
      return Explorer::require(most_seen_[producer] * 8 == scenario_.bytes, "refused with room");
    case LossReason::stream_ended:
      return Explorer::require(scenario_.close, "closed by nobody");
    case LossReason::out_of_memory:
      return Explorer::require(slabs_left == 0, "there was memory");
    default:
      Explorer::fail("refused without a reason");
    }
  }

  void consume() {
    std::vector<FrameBatch> batches;
    for (;;) {
      const std::uint64_t before = Explorer::turns();
      const auto drained = ring_->drain(stream_, next_, batches);
      take(batches);
      batches.clear();
      if (drained.frames)
        continue;
      if (drained.stalled) { // what a timer does
        Explorer::pause(before);
        continue;
      }
      if (everything_is_over())
        return;
      if (ring_->try_idle()) {
        ++idles_;
        // Sleeps until woken; the end of the program is no reason to miss a frame.
        Explorer::block_until([this] { return wake_ || everything_is_over(); });
        wake_ = false;
      }
    }
  }

  bool everything_is_over() const { return finished_ == threads_ && queued_now_ == 0; }

  void take(const std::vector<FrameBatch>& batches) {
    for (const FrameBatch& batch : batches) {
      kept_.push_back(batch);
      for (const FrameView& frame : batch)
        Explorer::require(frame.position.value == taken_++, "positions have a hole");
    }
  }

  void observe() {
    queued_now_ = ring_->queued();
    Explorer::require(queued_now_ <= scenario_.frames && queued_now_ * 8 <= scenario_.bytes,
                      "more was queued than the bounds allow");
    for (std::size_t& most : most_seen_)
      most = std::max(most, queued_now_);
  }

  void finish() {
    std::vector<std::uint32_t> order;
    std::map<std::uint32_t, std::uint32_t> frames_of_call;
    for (const FrameBatch& batch : kept_)
      for (const FrameView& frame : batch) {
        const std::uint32_t number = frame.channel.value + frames_of_call[frame.channel.value]++;
        order.push_back(number);
        const auto known = accepted_.find(number);
        if (known == accepted_.end())
          return Explorer::fail("a frame came out that was not accepted");
        Explorer::require(frame.payload == payload(number, known->second.size),
                          "bytes were not what was submitted");
      }
    Explorer::require(order.size() == accepted_.size(), "a frame was lost or came twice");
    for (std::size_t later = 0; later < order.size(); ++later)
      for (std::size_t earlier = 0; earlier < later; ++earlier)
        Explorer::require(accepted_[order[later]].returned > accepted_[order[earlier]].began,
                          "a submission that had returned came out after one that began later");
    Explorer::require(wakes_ <= idles_, "woken more often than idle");
    for (std::uint32_t i = 0; i < scenario_.before; ++i)
      Explorer::require(earlier_[i].front().payload == payload(i, 8), "an old batch has changed");
    earlier_.clear();
    kept_.clear();
    ring_.reset();
    for (const WatchedSlab& slab : all_slabs) {
      Explorer::require(slab.disposed(), "a slab leaked");
      Explorer::require(!slab.touched_after_its_end(), "a slab was written to after its end");
    }
  }

  const Scenario& scenario_;
  const std::shared_ptr<const StreamId> stream_ =
      std::make_shared<const StreamId>(StreamId{"n", {1}});
  std::unique_ptr<Ring> ring_;
  std::uint64_t next_ = 0;
  std::uint64_t taken_ = 0;
  std::size_t threads_ = 0;
  std::size_t finished_ = 0;
  std::size_t calls_that_fail_ = scenario_.calls_fail ? 1 : 0;
  std::size_t wakes_ = 0;
  std::size_t idles_ = 0;
  std::uint64_t clock_ = 0;
  bool wake_ = false;
  bool closed_ = false;
  std::size_t queued_now_ = 0;
  std::vector<std::size_t> most_seen_; // frames queued at once, during a producer's current call
  std::map<std::uint32_t, Accepted> accepted_;
  std::vector<FrameBatch> earlier_; // drained before
  std::vector<FrameBatch> kept_;
};

void explore(const Scenario& scenario, unsigned preemptions) {
  Explorer explorer(preemptions);
  const auto failure =
      explorer.explore([&] { return std::make_shared<Execution>(scenario)->program(); });
  CHECK_MESSAGE(!failure, failure.value_or(""));
  CHECK(explorer.executions() > 100); // it did explore
}

using Form = Submission::Form;

} // namespace

TEST_CASE("model_two_producers_of_one_frame_and_room_for_one") {
  explore({.frames = 1, .producers = {{{}}, {{}}}}, 3);
}

TEST_CASE("model_two_producers_of_two_frames_and_room_for_one") {
  explore({.frames = 1, .producers = {{{}, {}}, {{}, {}}}}, 2);
}

TEST_CASE("model_two_producers_of_two_frames_and_room_for_two") {
  explore({.frames = 2, .producers = {{{}, {}}, {{}, {}}}, .before = 3}, 2);
}

TEST_CASE("model_a_byte_bound_of_one_payload") {
  explore({.frames = 8, .bytes = 8, .producers = {{{}, {}}, {{}}}}, 2);
}

TEST_CASE("model_producers_that_meet_at_the_end_of_a_slab") {
  explore({.frames = 2, .producers = {{{.sizes = {16}}}, {{.sizes = {4}}}}, .before = 1}, 3);
}

TEST_CASE("model_places_of_slabs_that_are_used_again") {
  explore({.frames = 4, .bytes = 16, .producers = {{{}, {}}, {{}}}, .before = 9}, 2);
}

TEST_CASE("model_prefixes_of_many_that_span_slabs") {
  explore(
      {.frames = 3, .producers = {{{Form::many, {8, 20, 8}}}, {{Form::many, {0, 8}}}}, .before = 1},
      2);
}

TEST_CASE("model_blocks_of_their_own_among_slabs") {
  explore({.frames = 2, .producers = {{{Form::block, {40}}, {}}, {{}}}, .before = 1}, 2);
}

TEST_CASE("model_closing_while_two_producers_submit") {
  explore({.frames = 2, .producers = {{{}}, {{}}}, .close = true}, 2);
}

TEST_CASE("model_a_call_that_fails_and_is_made_by_the_next_submission") {
  explore({.frames = 4, .producers = {{{}, {}}, {{}}}, .calls_fail = true}, 2);
}

TEST_CASE("model_a_call_that_fails_and_is_made_by_a_submission_that_is_refused") {
  explore({.frames = 1, .producers = {{{}, {}}, {{}, {}}}, .calls_fail = true}, 2);
}

TEST_CASE("model_memory_that_runs_out") {
  explore({.frames = 2, .producers = {{{.sizes = {16}}, {}}, {{}}}, .before = 1, .slabs = 1}, 2);
}

#endif
