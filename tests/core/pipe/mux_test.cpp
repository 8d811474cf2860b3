#include "pipe_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <new>
#include <semaphore>
#include <set>
#include <thread>
#include <utility>

using namespace datastream;
using namespace pipe_test;

namespace {

constexpr ChannelId channel{1};

std::string of_size(std::size_t bytes, char fill = 'x') {
  return std::string(bytes, fill);
}

std::vector<std::string_view> views(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

} // namespace

TEST_CASE("mux_assigns_positions_when_drained") {
  Mux mux(stream_id);
  for (int i = 0; i < 64; ++i)
    REQUIRE(mux.submit(channel, "frame"));
  CHECK(mux.assigned() == 0);
  CHECK(mux.queued() == 64);
  const auto batches = drain(mux);
  const auto positions = positions_of(batches);
  REQUIRE(positions.size() == 64);
  for (std::uint64_t i = 0; i < 64; ++i)
    CHECK(positions[i] == i);
  CHECK(batches.front().stream() == stream_id);
  CHECK(mux.assigned() == 64);
  CHECK(mux.queued() == 0);
}

TEST_CASE("mux_concurrent_producers_assign_unique_positions_on_drain") {
  Mux mux(stream_id);
  std::atomic<int> accepted = 0;
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 32; ++i)
          accepted += mux.submit(ChannelId{t}, std::to_string(i)) ? 1 : 0;
      });
  }
  CHECK(accepted == 128);
  const auto frames = frames_of(drain(mux));
  REQUIRE(frames.size() == 128);
  std::vector<int> next(4);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    CHECK(frames[i].position == Position{i});
    CHECK(frames[i].payload == std::to_string(next[frames[i].channel.value]++));
  }
}

TEST_CASE("mux_full_queue_drops_without_consuming_position") {
  Mux mux(stream_id, {.frames = 1});
  CHECK(mux.submit(channel, "first"));
  CHECK(!mux.submit(channel, "second"));
  CHECK(mux.refused() == RefusedCounts{.mux_frames_full = 1});
  CHECK(mux.assigned() == 0);
  CHECK(frames_of(drain(mux)) == std::vector<Frame>{{channel, Position{0}, "first"}});
  CHECK(mux.submit(channel, "third"));
  CHECK(frames_of(drain(mux)) == std::vector<Frame>{{channel, Position{1}, "third"}});
}

TEST_CASE("mux_one_submit_one_drained_frame_without_timing_sidecar") {
  Mux mux(stream_id);
  CHECK(mux.submit(ChannelId{0}, "unregistered"));
  CHECK(frames_of(drain(mux)) == std::vector<Frame>{{ChannelId{0}, Position{0}, "unregistered"}});
}

TEST_CASE("a_capacity_of_zero_frames_is_one_and_the_largest_is_clamped") {
  Mux least(stream_id, {.frames = 0});
  CHECK(least.submit(channel, "x"));
  CHECK(!least.submit(channel, "x"));
  Mux most(stream_id, {.frames = defaults::mux_frames_max + 1});
  std::size_t accepted = 0;
  while (most.submit(channel, ""))
    ++accepted;
  CHECK(accepted == defaults::mux_frames_max);
  CHECK(most.refused() == RefusedCounts{.mux_frames_full = 1});
}

TEST_CASE("a_mux_holds_exactly_its_capacity_in_frames_again_and_again") {
  for (const std::size_t capacity : {1U, 2U, 3U, 5U, 8U, 1000U}) {
    Mux mux(stream_id, {.frames = capacity});
    std::uint64_t next = 0;
    for (int round = 0; round < 4; ++round) {
      for (std::size_t i = 0; i < capacity; ++i)
        REQUIRE(mux.submit(channel, std::to_string(i)));
      CHECK(!mux.submit(channel, "one more"));
      for (const Frame& frame : frames_of(drain(mux)))
        CHECK(frame.position == Position{next++});
    }
    CHECK(next == 4 * capacity);
    CHECK(mux.refused() == RefusedCounts{.mux_frames_full = 4});
  }
}

TEST_CASE("the_default_mux_holds_exactly_4096_frames") {
  Mux mux(stream_id);
  for (int i = 0; i < 4096; ++i)
    REQUIRE(mux.submit(channel, "x"));
  CHECK(!mux.submit(channel, "x"));
  CHECK(mux.refused() == RefusedCounts{.mux_frames_full = 1});
  CHECK(frames_of(drain(mux)).size() == 4096);
}

TEST_CASE("the_default_mux_holds_exactly_64_mebibytes") {
  Mux mux(stream_id);
  constexpr std::size_t mebibyte = 1U << 20U;
  for (int i = 0; i < 64; ++i)
    REQUIRE(mux.submit(channel, of_size(mebibyte)));
  CHECK(!mux.submit(channel, "x"));
  CHECK(!mux.submit(channel, ""));
  CHECK(mux.refused() == RefusedCounts{.mux_bytes_full = 2});
  drain(mux);
  CHECK(mux.submit(channel, "x"));
}

TEST_CASE("bytes_are_counted_in_units_of_eight_and_at_least_one") {
  Mux mux(stream_id, {.frames = 100, .bytes = 64});
  for (const std::size_t size : {0U, 1U, 8U, 9U, 16U}) // 1, 1, 1, 2 and 2 units
    CHECK(mux.submit(channel, of_size(size)));
  CHECK(!mux.submit(channel, of_size(9)));
  CHECK(mux.submit(channel, of_size(8)));
  CHECK(!mux.submit(channel, ""));
  CHECK(mux.refused() == RefusedCounts{.mux_bytes_full = 2});
  CHECK(payloads_of(drain(mux)).size() == 6);
}

TEST_CASE("a_payload_of_exactly_the_byte_bound_fits_an_empty_mux_only") {
  for (const std::size_t bytes :
       {std::size_t{8}, std::size_t{1024}, defaults::slab_payload_max,
        defaults::slab_payload_max + 8, 3 * defaults::slab_bytes, std::size_t{1} << 20U}) {
    Mux mux(stream_id, {.frames = 10, .bytes = bytes});
    for (int round = 0; round < 5; ++round) {
      CHECK(!mux.submit(channel, of_size(bytes + 1)));
      CHECK(mux.submit(channel, of_size(bytes, 'a')));
      CHECK(!mux.submit(channel, ""));
      CHECK(payloads_of(drain(mux)) == std::vector<std::string>{of_size(bytes, 'a')});
    }
    CHECK(mux.refused() == RefusedCounts{.mux_bytes_full = 10});
  }
}

TEST_CASE("a_mux_of_less_than_eight_bytes_holds_one_small_payload") {
  Mux mux(stream_id, {.bytes = 0});
  CHECK(!mux.submit(channel, of_size(9)));
  CHECK(mux.submit(channel, of_size(8)));
  CHECK(!mux.submit(channel, ""));
}

TEST_CASE("the_largest_payload_is_accepted_and_one_byte_more_is_too_large") {
  Mux mux(stream_id);
  static_assert(defaults::payload_bytes_max == 16 * 1024 * 1024 - 17);
  const std::string largest = of_size(defaults::payload_bytes_max, 'l');
  CHECK(mux.submit(channel, largest));
  CHECK(mux.submit_owned(channel, largest));
  CHECK(!mux.submit(channel, largest + 'x'));
  CHECK(!mux.submit_owned(channel, largest + 'x'));
  CHECK(mux.refused() == RefusedCounts{.payload_too_large = 2});
  const auto payloads = payloads_of(drain(mux));
  REQUIRE(payloads.size() == 2);
  CHECK(payloads[0] == largest);
  CHECK(payloads[1] == largest);
}

TEST_CASE("payloads_of_every_size_come_out_intact_and_in_order") {
  Mux mux(stream_id);
  std::vector<std::string> sent;
  for (const std::size_t limit : {std::size_t{0}, std::size_t{8}, std::size_t{4096},
                                  defaults::slab_payload_max, defaults::slab_bytes})
    for (std::size_t size = limit < 2 ? 0 : limit - 2; size <= limit + 2; ++size)
      sent.push_back(of_size(size, static_cast<char>('a' + sent.size())));
  for (int round = 0; round < 8; ++round) { // so that they begin everywhere in a slab
    for (const std::string& payload : sent)
      REQUIRE((round % 2 ? mux.submit_owned(channel, payload) : mux.submit(channel, payload)));
    REQUIRE(payloads_of(drain(mux)) == sent);
  }
}

TEST_CASE("a_batch_holds_at_most_1024_frames_of_one_mebibyte") {
  Mux mux(stream_id);
  for (int i = 0; i < 4096; ++i)
    REQUIRE(mux.submit(channel, "x"));
  const auto small = drain(mux);
  REQUIRE(small.size() == 4);
  for (const FrameBatch& batch : small)
    CHECK(batch.size() == 1024);

  for (int i = 0; i < 600; ++i)
    REQUIRE(mux.submit(channel, of_size(10'000)));
  REQUIRE(mux.submit(channel, of_size(2U << 20U)));
  for (const FrameBatch& batch : drain(mux))
    CHECK((batch.size() == 1 || batch.payload_bytes() <= defaults::batch_bytes));
}

TEST_CASE("an_owned_string_that_is_large_and_full_is_not_copied") {
  Mux mux(stream_id);
  std::string large = of_size(1U << 20U);
  const char* bytes = large.data();
  REQUIRE(mux.submit_owned(channel, std::move(large)));
  const auto batches = drain(mux);
  CHECK(batches.at(0).front().payload.data() == bytes);
  CHECK(batches.at(0).pinned_bytes() == 1U << 20U);
}

TEST_CASE("an_owned_string_that_is_mostly_spare_room_is_copied_instead_of_pinned") {
  Mux mux(stream_id);
  std::string spacious = of_size(100'000);
  spacious.reserve(10'000'000);
  const char* bytes = spacious.data();
  REQUIRE(mux.submit_owned(channel, std::move(spacious)));
  const auto batches = drain(mux);
  CHECK(batches.at(0).front().payload == of_size(100'000));
  CHECK(batches.at(0).front().payload.data() != bytes);
}

TEST_CASE("a_batch_never_pins_more_than_twice_what_it_holds") {
  const std::string payload = of_size(6600); // a multiple of 8: nothing is rounded
  for (int frames = 1; frames <= 30; ++frames) {
    Mux mux(stream_id);
    for (int i = 0; i < frames; ++i)
      REQUIRE(mux.submit(channel, payload));
    for (const FrameBatch& batch : drain(mux))
      REQUIRE(batch.pinned_bytes() <= 2 * batch.payload_bytes());
  }
}

TEST_CASE("submit_many_accepts_a_prefix_and_counts_the_rest") {
  Mux mux(stream_id, {.frames = 3});
  const std::vector<std::string> texts = {"a", "b", "c", "d", "e"};
  CHECK(mux.submit_many(channel, views(texts)) == 3);
  CHECK(mux.submit_many(channel, views(texts)) == 0);
  CHECK(mux.submit_many(channel, {}) == 0);
  CHECK(mux.refused() == RefusedCounts{.mux_frames_full = 7});
  CHECK(payloads_of(drain(mux)) == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("submit_many_stops_at_the_first_payload_for_which_there_are_no_bytes") {
  Mux mux(stream_id, {.bytes = 24});
  const std::vector<std::string> texts = {of_size(8), of_size(24), of_size(8)};
  CHECK(mux.submit_many(channel, views(texts)) == 1); // the third one would fit
  CHECK(mux.refused() == RefusedCounts{.mux_bytes_full = 2});
}

TEST_CASE("submit_many_keeps_order_across_small_and_large_payloads") {
  Mux mux(stream_id);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 300; ++i)
    texts.push_back(of_size(i % 50 == 49 ? defaults::slab_payload_max + i : i,
                            static_cast<char>('a' + i % 26)));
  CHECK(mux.submit_many(channel, views(texts)) == 300);
  CHECK(payloads_of(drain(mux)) == texts);
}

TEST_CASE("submit_many_stops_at_a_payload_that_is_too_large") {
  Mux mux(stream_id);
  const std::vector<std::string> texts = {"a", of_size(defaults::payload_bytes_max + 1), "c"};
  CHECK(mux.submit_many(channel, views(texts)) == 1);
  CHECK(mux.refused() == RefusedCounts{.payload_too_large = 2});
  CHECK(payloads_of(drain(mux)) == std::vector<std::string>{"a"});
}

TEST_CASE("submit_many_stops_at_a_large_payload_that_finds_no_room") {
  Mux mux(stream_id, {.bytes = 100'000});
  const std::vector<std::string> texts = {"a", of_size(99'992), "c"};
  CHECK(mux.submit_many(channel, views(texts)) == 2);
  CHECK(mux.refused() == RefusedCounts{.mux_bytes_full = 1});
}

TEST_CASE("a_closed_mux_refuses_every_form_and_keeps_what_it_had") {
  Mux mux(stream_id);
  REQUIRE(mux.submit(channel, "kept"));
  mux.close();
  mux.close();
  const std::vector<std::string> texts = {"a", of_size(100'000)};
  CHECK(!mux.submit(channel, "late"));
  CHECK(!mux.submit(channel, texts[1]));
  CHECK(!mux.submit_owned(channel, texts[1]));
  CHECK(mux.submit_many(channel, views(texts)) == 0);
  CHECK(mux.refused() == RefusedCounts{.stream_ended = 5});
  CHECK(payloads_of(drain(mux)) == std::vector<std::string>{"kept"});
}

TEST_CASE("a_drain_appends_to_what_the_caller_has") {
  Mux mux(stream_id);
  std::vector<FrameBatch> batches;
  for (const char* text : {"a", "b", "c"}) {
    REQUIRE(mux.submit(channel, text));
    CHECK(mux.drain(batches) == 1);
  }
  CHECK(payloads_of(batches) == std::vector<std::string>{"a", "b", "c"});
  CHECK(mux.drain(batches) == 0);
}

TEST_CASE("batches_outlive_their_mux_and_keep_their_bytes_while_memory_is_used_again") {
  std::vector<FrameBatch> kept;
  std::vector<std::string> sent;
  for (int life = 0; life < 3; ++life) {
    Mux mux(stream_id);
    for (int i = 0; i < 100; ++i) {
      sent.push_back(of_size(20'000, static_cast<char>('a' + (life * 100 + i) % 26)));
      REQUIRE(mux.submit(channel, sent.back()));
      if (i % 7 == 6)
        mux.drain(kept);
    }
    mux.drain(kept);
  }
  CHECK(payloads_of(kept) == sent);
}

TEST_CASE("a_mux_that_is_destroyed_frees_what_nobody_drained") {
  Mux mux(stream_id); // leaks would be found by the sanitizers
  REQUIRE(mux.submit(channel, "small"));
  REQUIRE(mux.submit(channel, of_size(1U << 20U)));
  REQUIRE(mux.submit_owned(channel, of_size(1U << 20U)));
  CHECK(mux.queued() == 3);
}

TEST_CASE("concurrent_drains_take_every_frame_once_and_in_order") {
  Mux mux(stream_id, {.frames = 64});
  constexpr std::uint64_t wanted = 20'000;
  std::atomic<bool> done = false;
  std::vector<std::vector<FrameBatch>> taken(2);
  {
    std::vector<std::jthread> drainers;
    for (auto& mine : taken)
      drainers.emplace_back([&] {
        bool last = false;
        while (!last) {
          last = done;
          mux.drain(mine);
        }
      });
    for (std::uint64_t i = 0; i < wanted;)
      if (mux.submit(channel, std::to_string(i)))
        ++i;
      else
        std::this_thread::yield();
    done = true;
  }
  std::set<std::uint64_t> seen;
  for (const auto& mine : taken)
    for (const Frame& frame : frames_of(mine)) {
      REQUIRE(frame.payload == std::to_string(frame.position.value));
      REQUIRE(seen.insert(frame.position.value).second);
    }
  CHECK(seen.size() == wanted);
}

TEST_CASE("the_waker_is_called_once_in_an_idle_period") {
  Mux mux(stream_id);
  int calls = 0;
  mux.set_waker([&] { ++calls; });
  REQUIRE(mux.submit(channel, "busy"));
  CHECK(!mux.try_idle());
  CHECK(calls == 0);
  drain(mux);
  CHECK(mux.try_idle());
  CHECK(mux.try_idle());
  CHECK(calls == 0);
  REQUIRE(mux.submit(channel, "first"));
  REQUIRE(mux.submit(channel, "second"));
  CHECK(calls == 1);
  drain(mux);
  REQUIRE(mux.submit(channel, "third"));
  CHECK(calls == 1);
  drain(mux);
  CHECK(mux.try_idle());
  const std::vector<std::string> texts(200, "many");
  CHECK(mux.submit_many(channel, views(texts)) == 200);
  CHECK(calls == 2);
}

TEST_CASE("a_burst_of_small_and_large_payloads_wakes_once") {
  Mux mux(stream_id);
  int calls = 0;
  mux.set_waker([&] { ++calls; });
  REQUIRE(mux.try_idle());
  const std::vector<std::string> texts = {"a", of_size(defaults::slab_payload_max + 1), "c"};
  CHECK(mux.submit_many(channel, views(texts)) == 3);
  CHECK(calls == 1);
}

TEST_CASE("a_burst_calls_for_a_drainer_when_its_first_part_is_queued") {
  const std::string large = of_size(defaults::slab_payload_max + 1);
  const std::vector<std::string> with_large = {"a", large, large, large};
  const std::vector<std::string> small(200, "many");
  for (const auto& [texts, most] :
       {std::pair{with_large, std::size_t{1}}, std::pair{small, std::size_t{64}}}) {
    Mux mux(stream_id);
    std::vector<std::size_t> queued;
    mux.set_waker([&] { queued.push_back(mux.queued()); });
    REQUIRE(mux.try_idle());
    CHECK(mux.submit_many(channel, views(texts)) == texts.size());
    CHECK(queued == std::vector<std::size_t>{most});
  }
}

TEST_CASE("a_burst_of_any_length_is_accepted_whole_when_the_drainer_comes_each_time_it_is_called") {
  const std::string payload = of_size(2000);
  const std::vector<std::string_view> burst(20'000, payload);
  Mux mux(stream_id);
  std::binary_semaphore called{0};
  std::binary_semaphore drained{0};
  std::atomic<bool> done = false;
  mux.set_waker([&] {
    called.release();
    drained.acquire();
  });
  std::uint64_t frames = 0;
  std::jthread drainer([&] {
    std::vector<FrameBatch> batches;
    for (called.acquire(); !done; called.acquire()) {
      frames += mux.drain(batches);
      batches.clear();
      drained.release();
    }
  });
  CHECK(mux.submit_many(channel, burst) == burst.size());
  done = true;
  called.release();
  drainer.join();
  CHECK(frames + mux.queued() == burst.size());
  CHECK(mux.refused() == RefusedCounts{});
}

TEST_CASE("a_refused_submission_wakes_nobody") {
  Mux mux(stream_id, {.bytes = 8});
  int calls = 0;
  mux.set_waker([&] { ++calls; });
  REQUIRE(mux.try_idle());
  CHECK(!mux.submit(channel, of_size(9)));
  mux.close();
  CHECK(!mux.submit(channel, "x"));
  CHECK(calls == 0);
}

TEST_CASE("wake_calls_the_waker_of_an_idle_mux_only") {
  Mux mux(stream_id);
  int calls = 0;
  mux.set_waker([&] { ++calls; });
  mux.wake();
  CHECK(calls == 0);
  REQUIRE(mux.try_idle());
  mux.wake();
  mux.wake();
  CHECK(calls == 1);
  REQUIRE(mux.try_idle());
  mux.stay_awake();
  REQUIRE(mux.submit(channel, "x"));
  CHECK(calls == 1);
}

TEST_CASE("a_waker_that_throws_is_called_by_the_next_submission_or_registration") {
  Mux mux(stream_id);
  int calls = 0;
  mux.set_waker([&] {
    if (++calls % 2)
      throw std::bad_alloc();
  });
  REQUIRE(mux.try_idle());
  CHECK(mux.submit(channel, "accepted all the same"));
  CHECK(calls == 1);
  CHECK(!mux.try_idle());
  CHECK(mux.submit(channel, "calls again"));
  CHECK(calls == 2);
  CHECK(mux.submit(channel, "need not"));
  CHECK(calls == 2);
  drain(mux);
  REQUIRE(mux.try_idle());
  mux.wake();
  CHECK(calls == 3);
  mux.wake();
  CHECK(calls == 4);
  CHECK(mux.submit(channel, "need not"));
  CHECK(calls == 4);
}

TEST_CASE("a_call_that_failed_is_made_by_a_submission_that_is_refused") {
  const std::string large = of_size(defaults::slab_payload_max + 1);
  const std::vector<std::string_view> many = {"a", "b"};
  const std::vector<std::function<bool(Mux&)>> forms = {
      [](Mux& mux) { return mux.submit(channel, "x"); },
      [&](Mux& mux) { return mux.submit(channel, large); },
      [&](Mux& mux) { return mux.submit_owned(channel, large); },
      [&](Mux& mux) { return mux.submit_many(channel, many) != 0; },
      [](Mux& mux) { return mux.refuse_out_of_memory(); },
  };
  for (const auto& refused : forms) {
    Mux mux(stream_id, {.frames = 1});
    int calls = 0;
    mux.set_waker([&] {
      if (++calls == 1)
        throw std::bad_alloc();
    });
    REQUIRE(mux.try_idle());
    REQUIRE(mux.submit(channel, "the only one"));
    CHECK(!refused(mux));
    CHECK(calls == 2);
    CHECK(!refused(mux));
    CHECK(calls == 2);
  }
}

TEST_CASE("a_call_that_falls_due_during_a_call_is_made_after_it") {
  Mux mux(stream_id, {.frames = 64});
  int calls = 0;
  bool inside = false;
  mux.set_waker([&] {
    CHECK(!inside);
    inside = true;
    if (++calls == 1)
      for (int i = 0; i < 40; ++i)
        CHECK(mux.submit(channel, "fills it half"));
    inside = false;
  });
  REQUIRE(mux.try_idle());
  CHECK(mux.submit(channel, "first"));
  CHECK(calls == 2);
  CHECK(mux.queued() == 41);
}

TEST_CASE("no_producer_waits_for_the_waker_of_another") {
  Mux mux(stream_id);
  std::binary_semaphore inside{0};
  std::binary_semaphore leave{0};
  std::atomic<int> calls = 0;
  mux.set_waker([&] {
    if (++calls == 1) {
      inside.release();
      leave.acquire();
    }
  });
  REQUIRE(mux.try_idle());
  std::jthread slow([&] { mux.submit(channel, "x"); });
  inside.acquire();
  drain(mux);
  REQUIRE(mux.try_idle());
  CHECK(mux.submit(channel, "y")); // for which a call is due
  CHECK(calls == 1);
  leave.release();
  slow.join();
  CHECK(calls == 2);
}

TEST_CASE("replacing_the_waker_waits_for_a_call_that_is_under_way") {
  Mux mux(stream_id);
  std::binary_semaphore inside{0};
  std::binary_semaphore leave{0};
  std::atomic<bool> left = false;
  mux.set_waker([&] {
    inside.release();
    leave.acquire();
    left = true;
  });
  REQUIRE(mux.try_idle());
  std::jthread producer([&] { mux.submit(channel, "x"); });
  inside.acquire();
  std::jthread releaser([&] { leave.release(); });
  mux.set_waker(nullptr);
  CHECK(left);
}

TEST_CASE("no_wake_up_is_lost_between_many_producers_and_a_drainer_that_sleeps") {
  Mux mux(stream_id, {.frames = 16});
  std::counting_semaphore<> wakes{0};
  mux.set_waker([&] { wakes.release(); });
  constexpr int producers = 3;
  constexpr std::uint64_t each = 3000;
  std::atomic<std::uint64_t> accepted = 0;
  std::uint64_t drained = 0;
  std::atomic<bool> lost = false;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < producers; ++t)
      threads.emplace_back([&] {
        for (std::uint64_t i = 0; i < each && !lost;)
          if (mux.submit(channel, "x")) {
            ++accepted;
            ++i;
          } else {
            std::this_thread::yield();
          }
      });
    std::vector<FrameBatch> batches;
    while (drained < producers * each && !lost) {
      drained += mux.drain(batches);
      batches.clear();
      if (drained < producers * each && mux.try_idle())
        lost = !wakes.try_acquire_for(patience);
    }
  }
  CHECK(!lost);
  CHECK(drained == accepted);
}

TEST_CASE("filling_a_mux_half_calls_the_drainer_once") {
  Mux mux({"n", {1}}, {.frames = 64, .bytes = 1U << 20U});
  int calls = 0;
  mux.set_waker([&] { ++calls; });
  std::vector<FrameBatch> batches;
  for (int round = 1; round <= 3; ++round) {
    for (int i = 0; i < 31; ++i)
      REQUIRE(mux.submit({1}, "x"));
    CHECK(calls == round - 1);
    for (int i = 31; i < 64; ++i)
      REQUIRE(mux.submit({1}, "x"));
    CHECK(calls == round);
    CHECK(!mux.submit({1}, "x"));
    CHECK(mux.drain(batches) == 64);
  }
  CHECK(calls == 3);
}

TEST_CASE("filling_a_mux_half_in_bytes_calls_the_drainer") {
  Mux mux({"n", {1}}, {.frames = 4096, .bytes = 80 * 1024});
  int calls = 0;
  mux.set_waker([&] { ++calls; });
  REQUIRE(mux.submit({1}, std::string(39 * 1024, 'x')));
  CHECK(calls == 0);
  REQUIRE(mux.submit({1}, std::string(1024, 'x')));
  CHECK(calls == 1);
}
