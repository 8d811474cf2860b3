/// The older mux: positions are taken by submitting, and a drop is a hole.

#include "shortage.hpp"
#include "under_tsan.hpp"

#include <datastream/envelope/assign_on_submit_mux.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <latch>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace datastream;

namespace {

const StreamId stream{"node-a", {7}};

std::vector<Frame> frames_of(const std::vector<FrameBatch>& batches) {
  std::vector<Frame> frames;
  for (const FrameBatch& batch : batches)
    for (const FrameView& frame : batch)
      frames.push_back(frame.to_frame());
  return frames;
}

std::vector<Frame> drained(AssignOnSubmitMux& mux) {
  std::vector<FrameBatch> batches;
  const std::size_t count = mux.drain(batches);
  const auto frames = frames_of(batches);
  CHECK(frames.size() == count);
  return frames;
}

} // namespace

TEST_CASE("submitting_answers_the_position_that_the_drained_frame_has") {
  AssignOnSubmitMux mux{stream, 8};
  CHECK(mux.stream_id() == stream);
  CHECK(mux.submit({1}, "a") == Position{0});
  CHECK(mux.submit({2}, "") == Position{1});
  CHECK(mux.submit({1}, std::string("\0\xff", 2)) == Position{2});

  std::vector<FrameBatch> batches;
  CHECK(mux.drain(batches) == 3);
  REQUIRE(batches.size() == 1);
  CHECK(batches[0].stream() == stream);
  CHECK(frames_of(batches) ==
        std::vector<Frame>{{{1}, {0}, "a"}, {{2}, {1}, ""}, {{1}, {2}, std::string("\0\xff", 2)}});
  CHECK(mux.drain(batches) == 0);
  CHECK(batches.size() == 1);
  CHECK(mux.submit({1}, "later") == Position{3});
  CHECK(drained(mux) == std::vector<Frame>{{{1}, {3}, "later"}});
}

TEST_CASE("an_overflow_of_the_older_mux_is_a_hole_between_its_neighbours") {
  AssignOnSubmitMux mux{stream, 2};
  CHECK(mux.submit({1}, "zero") == Position{0});
  CHECK(mux.submit({1}, "one") == Position{1});
  CHECK(mux.submit({1}, "lost") == Position{2});
  CHECK(mux.dropped() == 1);
  CHECK(drained(mux) == std::vector<Frame>{{{1}, {0}, "zero"}, {{1}, {1}, "one"}});
  CHECK(mux.submit({1}, "three") == Position{3});
  CHECK(drained(mux) == std::vector<Frame>{{{1}, {3}, "three"}});
  CHECK(mux.assigned() == 4);
  CHECK(mux.dropped() == 1);
}

TEST_CASE("the_numbering_of_the_older_mux_counts_drops_without_a_gap_of_its_own") {
  AssignOnSubmitMux mux{stream, 3};
  for (std::uint64_t i = 0; i < 10; ++i)
    CHECK(mux.submit({1}, "x") == Position{i});
  CHECK(mux.assigned() == 10);
  CHECK(mux.dropped() == 7);
  CHECK(drained(mux).size() + mux.dropped() == mux.assigned());
}

TEST_CASE("an_older_mux_without_room_numbers_and_drops_everything") {
  AssignOnSubmitMux mux{stream, 0};
  CHECK(mux.submit({1}, "x") == Position{0});
  CHECK(mux.submit({1}, "x") == Position{1});
  CHECK(drained(mux).empty());
  CHECK(mux.dropped() == 2);
}

TEST_CASE("an_unbounded_older_mux_keeps_everything_in_batches_of_bounded_size") {
  AssignOnSubmitMux mux = AssignOnSubmitMux::unbounded(stream);
  constexpr std::uint64_t count = 3 * defaults::mux_frames + 1;
  for (std::uint64_t i = 0; i < count; ++i)
    mux.submit({1}, std::to_string(i));
  std::vector<FrameBatch> batches;
  CHECK(mux.drain(batches) == count);
  CHECK(mux.dropped() == 0);
  std::uint64_t next = 0;
  for (const FrameBatch& batch : batches) {
    CHECK(batch.size() <= defaults::batch_frames);
    for (const FrameView& frame : batch) {
      CHECK(frame.position == Position{next});
      CHECK(frame.payload == std::to_string(next++));
    }
  }
  CHECK(next == count);
}

TEST_CASE("large_payloads_make_batches_of_bounded_bytes_and_too_large_ones_are_holes") {
  AssignOnSubmitMux mux = AssignOnSubmitMux::unbounded(stream);
  const std::string most(defaults::payload_bytes_max, 'm');
  mux.submit({1}, "a");
  mux.submit({1}, most);
  mux.submit({1}, most + '!');
  mux.submit({1}, std::string(defaults::batch_bytes - 1, 'b'));
  mux.submit({1}, "c");
  mux.submit({1}, "d");
  CHECK(mux.dropped() == 1);
  std::vector<FrameBatch> batches;
  CHECK(mux.drain(batches) == 5);
  REQUIRE(batches.size() == 4);
  CHECK(batches[0].size() == 1);
  CHECK(batches[1].front().payload == most);
  CHECK(batches[2].front().position == Position{3});
  CHECK(batches[2].payload_bytes() == defaults::batch_bytes);
  CHECK(batches[3].back().position == Position{5});
}

TEST_CASE("concurrent_producers_of_the_older_mux_get_positions_of_their_own_that_drain_in_order") {
  constexpr std::uint32_t producers = 8;
  constexpr std::uint64_t each = 500;
  AssignOnSubmitMux mux{stream, producers * each};
  std::vector<std::map<std::uint64_t, std::string>> answered(producers);
  std::vector<FrameBatch> batches;
  {
    std::latch begin{producers + 1};
    std::vector<std::jthread> threads;
    for (std::uint32_t p = 0; p < producers; ++p)
      threads.emplace_back([&, p] {
        begin.arrive_and_wait();
        for (std::uint64_t n = 0; n < each; ++n) {
          std::string payload = std::to_string(p) + '/' + std::to_string(n);
          const Position position = mux.submit({p + 1}, payload);
          answered[p].emplace(position.value, std::move(payload));
        }
      });
    begin.arrive_and_wait();
    for (int i = 0; i < 100; ++i)
      mux.drain(batches);
  }
  mux.drain(batches);
  CHECK(mux.assigned() == producers * each);
  CHECK(mux.dropped() == 0);

  const auto frames = frames_of(batches);
  REQUIRE(frames.size() == producers * each);
  for (std::uint64_t i = 0; i < frames.size(); ++i) {
    REQUIRE(frames[i].position == Position{i});
    const auto& own = answered[frames[i].channel.value - 1];
    const auto found = own.find(i);
    REQUIRE(found != own.end());
    CHECK(found->second == frames[i].payload);
  }
}

TEST_CASE("concurrent_drains_of_the_older_mux_take_every_frame_once_and_drops_close_the_books") {
  AssignOnSubmitMux mux{stream, 16};
  std::vector<std::vector<FrameBatch>> taken(2);
  {
    std::vector<std::jthread> threads;
    for (auto& batches : taken)
      threads.emplace_back([&](const std::stop_token& stop) {
        while (!stop.stop_requested())
          mux.drain(batches);
      });
    for (int i = 0; i < 20'000; ++i)
      mux.submit({1}, "payload");
  }
  mux.drain(taken[0]);
  std::map<Position, int> seen;
  for (const auto& batches : taken) {
    const auto frames = frames_of(batches);
    for (const Frame& frame : frames)
      CHECK(++seen[frame.position] == 1);
    for (std::size_t i = 1; i < frames.size(); ++i)
      CHECK(frames[i - 1].position < frames[i].position);
  }
  CHECK(mux.assigned() == 20'000);
  CHECK(seen.size() + mux.dropped() == 20'000);
}

#if !DATASTREAM_UNDER_TSAN

TEST_CASE("an_older_mux_that_finds_no_memory_drops_and_counts_or_keeps_what_it_could_not_append") {
  AssignOnSubmitMux mux = AssignOnSubmitMux::unbounded(stream);
  {
    const test::Shortage shortage{0};
    for (int i = 0; i < 1000; ++i)
      mux.submit({1}, "short"); // no allocation for the payload itself: the queue's grows
  }
  REQUIRE(test::Shortage::happened());
  CHECK(mux.dropped() == 1);
  for (std::size_t i = 0; i < 4 * defaults::batch_frames; ++i)
    mux.submit({1}, "short");

  std::vector<FrameBatch> batches;
  bool failed = true;
  for (std::size_t n = 0; failed; ++n) {
    const test::Shortage shortage{n};
    try {
      mux.drain(batches);
    } catch (const std::bad_alloc&) {
    }
    failed = test::Shortage::happened();
    mux.submit({1}, "between");
  }
  mux.drain(batches);
  const auto frames = frames_of(batches);
  CHECK(frames.size() + mux.dropped() == mux.assigned());
  for (std::size_t i = 1; i < frames.size(); ++i)
    CHECK(frames[i - 1].position < frames[i].position);
}

#endif
