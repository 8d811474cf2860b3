/// The mux and its ring under many threads; meant to be run under ThreadSanitizer too.

#include "pipe_support.hpp"

#include "../../../libdatastream/core/src/pipe/submission_ring.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <random>
#include <semaphore>
#include <thread>

using namespace datastream;
using namespace pipe_test;

namespace {

/// Every payload begins with this; the rest repeats the low byte of `number`.
struct Stamp {
  std::uint64_t producer;
  std::uint64_t number; ///< of this producer's attempts
  std::uint64_t baton;  ///< 0, or the place in one order that spans all producers
};

std::string payload(const Stamp& stamp, std::size_t size) {
  std::string bytes(std::max(size, sizeof stamp), static_cast<char>(stamp.number));
  std::memcpy(bytes.data(), &stamp, sizeof stamp);
  return bytes;
}

/// The stamp of a payload whose bytes are all what they were; else a producer that is none.
Stamp read(std::string_view bytes) {
  Stamp stamp{~0ULL, 0, 0};
  if (bytes.size() < sizeof stamp)
    return stamp;
  Stamp found{};
  std::memcpy(&found, bytes.data(), sizeof found);
  const std::string_view rest = bytes.substr(sizeof found);
  const bool intact =
      rest.empty() || (rest[0] == static_cast<char>(found.number) &&
                       std::memcmp(rest.data(), rest.data() + 1, rest.size() - 1) == 0);
  return intact ? found : stamp;
}

struct Load {
  std::size_t frames;
  std::size_t bytes;
  std::size_t producers;
  std::size_t attempts; ///< of each producer, at least
  std::size_t largest;  ///< payload in bytes
  bool close_early = false;
};

class Stress {
public:
  explicit Stress(const Load& load) : load_(load), mux_(stream_id, {load.frames, load.bytes}) {
    mux_.set_waker([this] { wakes_.release(); });
  }

  void run() {
    std::jthread drainer([this] { drain_until_the_end(); });
    {
      std::vector<std::jthread> producers;
      for (std::uint64_t p = 0; p < load_.producers; ++p)
        producers.emplace_back([this, p] { produce(p); });
      if (load_.close_early) {
        CHECK(eventually([&] { return mux_.assigned() > load_.attempts / 2; }));
        mux_.close();
        closed_ = true;
      }
    }
    done_ = true;
    wakes_.release();
    drainer.join();

    CAPTURE(load_.frames);
    CAPTURE(load_.bytes);
    CHECK(accepted_ + refused_ == attempts_);
    CHECK(mux_.refused().total() == refused_);
    CHECK(mux_.assigned() == accepted_);
    CHECK(drained_ == accepted_);
    CHECK(accepted_ > 0);
    CHECK(broken_ == 0);
    CHECK(out_of_order_ == 0);
    CHECK(over_bound_ == 0);
    CHECK(lost_wake_ups_ == 0);
    if (load_.close_early)
      CHECK(!mux_.submit(ChannelId{1}, "late"));
  }

private:
  void produce(std::uint64_t producer) {
    std::mt19937 random(static_cast<std::mt19937::result_type>(producer + 1));
    std::uint64_t number = 0;
    while (number < load_.attempts || (load_.close_early && !closed_)) {
      const std::size_t size = random() % 64 == 0 ? load_.largest : random() % 200;
      switch (random() % 16) {
      case 0: { // in an order that all producers agree on
        const std::lock_guard lock(baton_mutex_);
        const std::string bytes = payload({producer, number++, baton_ + 1}, size);
        const bool taken = count(mux_.submit(ChannelId{1}, bytes), 1);
        baton_ += taken ? 1 : 0;
        break;
      }
      case 1: {
        const std::size_t many = random() % 100;
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < many; ++i)
          texts.push_back(payload({producer, number++, 0}, i == 70 ? load_.largest : size / 4));
        const std::vector<std::string_view> views(texts.begin(), texts.end());
        count(mux_.submit_many(ChannelId{1}, views), views.size());
        break;
      }
      case 2:
        count(mux_.submit_owned(ChannelId{1}, payload({producer, number++, 0}, size)), 1);
        break;
      default:
        count(mux_.submit(ChannelId{1}, payload({producer, number++, 0}, size)), 1);
      }
    }
    attempts_ += number;
  }

  bool count(std::size_t accepted, std::size_t offered) {
    accepted_ += accepted;
    refused_ += offered - accepted;
    if (accepted < offered)
      std::this_thread::yield();
    return accepted == offered;
  }

  void drain_until_the_end() {
    std::vector<FrameBatch> batches;
    std::vector<std::uint64_t> next(load_.producers);
    std::uint64_t baton = 0;
    for (;;) {
      const bool last = done_;
      batches.clear();
      const auto drained = mux_.drain(batches);
      over_bound_ += drained > load_.frames ? 1 : 0;
      for (const FrameBatch& batch : batches)
        for (const FrameView& frame : batch) {
          out_of_order_ += frame.position.value == drained_++ ? 0 : 1;
          const Stamp stamp = read(frame.payload);
          if (stamp.producer >= next.size()) {
            ++broken_;
            continue;
          }
          out_of_order_ += stamp.number >= next[stamp.producer] ? 0 : 1;
          next[stamp.producer] = stamp.number + 1;
          if (stamp.baton)
            out_of_order_ += stamp.baton == ++baton ? 0 : 1;
        }
      if (drained)
        continue;
      if (last)
        return;
      if (mux_.try_idle() && !wakes_.try_acquire_for(patience)) {
        ++lost_wake_ups_;
        return;
      }
    }
  }

  const Load load_;
  Mux mux_;
  std::counting_semaphore<> wakes_{0};
  std::atomic<bool> closed_ = false;
  std::atomic<bool> done_ = false;
  std::mutex baton_mutex_;
  std::uint64_t baton_ = 0;
  std::atomic<std::uint64_t> attempts_ = 0;
  std::atomic<std::uint64_t> accepted_ = 0;
  std::atomic<std::uint64_t> refused_ = 0;
  std::uint64_t drained_ = 0; // from here on the drainer's
  std::uint64_t broken_ = 0;
  std::uint64_t out_of_order_ = 0;
  std::uint64_t over_bound_ = 0;
  std::uint64_t lost_wake_ups_ = 0;
};

void stress(const Load& load) {
  Stress(load).run();
}

/// A block that claims to be large: the ring never looks into one.
class HollowBlock final : public Block {
public:
  HollowBlock(std::size_t bytes, std::size_t& disposed) noexcept
      : Block(nullptr, bytes, &dispose), disposed_(disposed) {}

private:
  static void dispose(Block* block) noexcept {
    auto* self = static_cast<HollowBlock*>(block);
    ++self->disposed_;
    delete self;
  }
  std::size_t& disposed_;
};

} // namespace

TEST_CASE("stress_capacities_of_a_few_frames") {
  for (const std::size_t frames : {1U, 2U, 3U})
    stress({.frames = frames,
            .bytes = 1U << 20U,
            .producers = 3,
            .attempts = 20'000,
            .largest = defaults::slab_payload_max + 1});
}

TEST_CASE("stress_a_capacity_of_4096_frames_and_many_bytes") {
  stress({.frames = 4096,
          .bytes = 64U << 20U,
          .producers = 4,
          .attempts = 30'000,
          .largest = defaults::slab_payload_max + 5000});
}

TEST_CASE("stress_byte_bounds_that_are_reached_first") {
  stress({.frames = 4096, .bytes = 1024, .producers = 3, .attempts = 20'000, .largest = 1000});
  stress({.frames = 4096,
          .bytes = defaults::slab_bytes,
          .producers = 3,
          .attempts = 20'000,
          .largest = defaults::slab_payload_max});
}

TEST_CASE("stress_closing_while_producers_submit") {
  for (int round = 0; round < 5; ++round)
    stress({.frames = 4096,
            .bytes = 64U << 20U,
            .producers = 3,
            .attempts = 5000,
            .largest = defaults::slab_payload_max + 1,
            .close_early = true});
}

TEST_CASE("frame_numbers_wrap_around_after_eight_million_frames") {
  Mux mux(stream_id);
  std::vector<FrameBatch> batches;
  const std::vector<std::string_view> burst(4096, "");
  constexpr std::uint64_t wrap = std::uint64_t{1} << 23U;
  while (mux.assigned() < wrap - 8192) {
    REQUIRE(mux.submit_many(ChannelId{1}, burst) == burst.size());
    mux.drain(batches);
    batches.clear();
  }
  for (std::uint64_t i = mux.assigned(); i < wrap + 8192; ++i) {
    REQUIRE(mux.submit(ChannelId{1}, std::to_string(i)));
    if (i % 1000 == 0)
      mux.drain(batches);
  }
  mux.drain(batches);
  for (const Frame& frame : frames_of(batches))
    REQUIRE(frame.payload == std::to_string(frame.position.value));
  CHECK(mux.assigned() == wrap + 8192);
}

TEST_CASE("byte_units_wrap_around_after_four_tebibytes") {
  SubmissionRing ring(16, std::size_t{1} << 33U);
  const auto stream = std::make_shared<const StreamId>(stream_id);
  std::uint64_t next = 0;
  std::size_t disposed = 0;
  constexpr std::uint64_t hollow = (std::uint64_t{1} << 32U) - 8;
  constexpr std::uint64_t rounds = (std::uint64_t{1} << 42U) / hollow + 3; // 2^39 units of 8
  std::string text(1000, 'x');
  for (std::uint64_t i = 0; i < rounds; ++i) {
    text[0] = static_cast<char>(i);
    REQUIRE(ring.submit(ChannelId{1}, text).accepted == 1);
    REQUIRE(ring.submit_block(ChannelId{2}, BlockPtr::adopt(new HollowBlock(hollow, disposed)))
                .accepted == 1);
    REQUIRE(ring.submit(ChannelId{3}, text).accepted == 1);
    std::vector<FrameBatch> batches;
    REQUIRE(ring.drain(stream, next, batches).frames == 3);
    REQUIRE(batches[0].front().payload == text);
    REQUIRE(batches[1].front().payload.size() == hollow);
    REQUIRE(batches[2].front().payload == text);
  }
  CHECK(disposed == rounds);
  CHECK(ring.queued() == 0);
}
