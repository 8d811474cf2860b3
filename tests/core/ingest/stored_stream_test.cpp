#include "batches.hpp"

#include <datastream/ingest/stored_stream.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace datastream;
using namespace ingest_test;
using Accepted = StoredStream::Accepted;

namespace {

const StreamId stream_id{"node", {7}};
constexpr std::uint64_t top = std::numeric_limits<std::uint64_t>::max();

Accepted put(StoredStream& stream, std::uint64_t position, std::string_view payload = "x",
             std::uint32_t channel = 1) {
  return stream.accept(FrameView{{channel}, {position}, payload, {}});
}

std::vector<std::uint64_t> positions(auto&& frames) {
  std::vector<std::uint64_t> result;
  for (const FrameView& frame : frames)
    result.push_back(frame.position.value);
  return result;
}

std::vector<GapSpan> gaps_of(const StoredStream& stream) {
  std::vector<GapSpan> result;
  std::ranges::copy(stream.gaps(), std::back_inserter(result));
  return result;
}

using Positions = std::vector<std::uint64_t>;
using GapList = std::vector<GapSpan>;

} // namespace

static_assert(std::ranges::bidirectional_range<StoredStream::Frames>);
static_assert(std::ranges::forward_range<StoredStream::Gaps>);

TEST_CASE("frames_are_read_in_position_order_whatever_order_they_came_in") {
  StoredStream stream{stream_id};
  for (const std::uint64_t position : {70U, 3U, 4097U, 2U, 64U, 5000U, 63U})
    CHECK(put(stream, position, std::to_string(position)) == Accepted::stored);
  CHECK(positions(stream.frames()) == Positions{2, 3, 63, 64, 70, 4097, 5000});
  for (const FrameView& frame : stream.frames())
    CHECK(frame.payload == std::to_string(frame.position.value));
  CHECK(stream.first() == Position{2});
  CHECK(stream.last() == Position{5000});
  CHECK(stream.size() == 7);
  CHECK(stream.payload_bytes() == 2 + 1 + 4 + 1 + 2 + 4 + 2);
}

TEST_CASE("frames_are_read_backwards_as_well") {
  StoredStream stream{stream_id};
  for (std::uint64_t position = 0; position < 9000; position += position % 5 == 0 ? 1 : 3)
    put(stream, position);
  Positions backwards = positions(stream.frames() | std::views::reverse);
  std::ranges::reverse(backwards);
  CHECK(backwards == positions(stream.frames()));
}

TEST_CASE("a_stream_without_frames_has_nothing_to_read") {
  const StoredStream stream{stream_id};
  CHECK(stream.empty());
  CHECK(stream.frames().empty());
  CHECK(stream.gaps().empty());
  CHECK(stream.frames_from({0}).empty());
  CHECK_FALSE(stream.at({0}));
  CHECK_FALSE(stream.first());
  CHECK_FALSE(stream.last());
  CHECK_FALSE(stream.evicted());
  CHECK(stream.ledger().balanced());
}

TEST_CASE("what_is_stored_first_at_a_position_stays") {
  StoredStream stream{stream_id};
  CHECK(put(stream, 5, "first", 1) == Accepted::stored);
  CHECK(put(stream, 5, "first", 1) == Accepted::duplicate);
  CHECK(put(stream, 5, "other", 1) == Accepted::conflict);
  CHECK(put(stream, 5, "first", 2) == Accepted::conflict);
  CHECK(put(stream, 5, "", 1) == Accepted::conflict);
  REQUIRE(stream.at({5}));
  CHECK(stream.at({5})->to_frame() == Frame{{1}, {5}, "first"});
  const IngestLedger ledger = stream.ledger();
  CHECK(ledger.arrived == 5);
  CHECK(ledger.stored == 1);
  CHECK(ledger.duplicates == 1);
  CHECK(ledger.conflicts == 3);
  CHECK(ledger.balanced());
}

TEST_CASE("a_payload_may_be_empty") {
  StoredStream stream{stream_id, {.frames = 1}};
  CHECK(put(stream, 0, "") == Accepted::stored);
  CHECK(put(stream, 0, "") == Accepted::duplicate);
  CHECK(stream.at({0})->payload.empty());
  CHECK(put(stream, 1, "") == Accepted::stored);
  CHECK(stream.evicted() == EvictedRange{{1}, 1, 0});
}

TEST_CASE("gap_surfacing_is_bounded_by_frame_count_not_gap_size") {
  // Were it not, this test would not end.
  StoredStream stream{stream_id};
  put(stream, 0);
  put(stream, top);
  CHECK(gaps_of(stream) == GapList{{{1}, {top - 1}}});
  CHECK(gaps_of(stream).front().count() == top - 1);
  CHECK(stream.ledger().interior_gaps() == top - 1);

  StoredStream outage{stream_id};
  put(outage, 0);
  put(outage, 5'000'001);
  CHECK(gaps_of(outage) == GapList{{{1}, {5'000'000}}});
}

TEST_CASE("gaps_lie_between_adjacent_stored_positions") {
  StoredStream stream{stream_id};
  for (const std::uint64_t position : {10U, 11U, 13U, 62U, 63U, 64U, 67U, 4095U, 4096U, 12'288U})
    put(stream, position);
  CHECK(gaps_of(stream) ==
        GapList{{{12}, {12}}, {{14}, {61}}, {{65}, {66}}, {{68}, {4094}}, {{4097}, {12'287}}});
}

TEST_CASE("a_stream_without_holes_has_no_gaps") {
  StoredStream stream{stream_id};
  for (std::uint64_t position = 100; position < 9000; ++position)
    put(stream, position);
  CHECK(stream.gaps().empty());
}

TEST_CASE("what_lies_before_the_first_stored_frame_is_no_gap") {
  StoredStream stream{stream_id};
  put(stream, 1000);
  put(stream, 1001);
  CHECK(stream.gaps().empty());
  CHECK(stream.ledger().interior_gaps() == 0);
}

TEST_CASE("a_gap_closes_when_its_frames_come_late") {
  StoredStream stream{stream_id};
  put(stream, 0);
  put(stream, 3);
  put(stream, 2);
  CHECK(gaps_of(stream) == GapList{{{1}, {1}}});
  put(stream, 1);
  CHECK(stream.gaps().empty());
}

TEST_CASE("reading_may_begin_at_any_position") {
  StoredStream stream{stream_id};
  const Positions stored{5, 63, 64, 100, 4095, 8192, 8200, top};
  for (const std::uint64_t position : stored)
    put(stream, position);
  for (const std::uint64_t from :
       {std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{6}, std::uint64_t{64}, std::uint64_t{101},
        std::uint64_t{4095}, std::uint64_t{4096}, std::uint64_t{8193}, std::uint64_t{8201},
        std::uint64_t{8300}, top}) {
    CAPTURE(from);
    const auto first = std::ranges::lower_bound(stored, from);
    CHECK(positions(stream.frames_from({from})) == Positions(first, stored.end()));
  }
}

TEST_CASE("retention_by_frames_is_exact_and_evicts_the_lowest") {
  StoredStream stream{stream_id, {.frames = 3}};
  for (const std::uint64_t position : {4U, 2U, 9U})
    put(stream, position, "ab");
  CHECK_FALSE(stream.evicted());
  CHECK(put(stream, 6, "ab") == Accepted::stored);
  CHECK(positions(stream.frames()) == Positions{4, 6, 9});
  CHECK(stream.evicted() == EvictedRange{{3}, 1, 2});
}

TEST_CASE("retention_by_bytes_is_exact") {
  StoredStream stream{stream_id, {.bytes = 10}};
  put(stream, 0, "aaaa");
  put(stream, 1, "bbbbbb");
  CHECK(stream.size() == 2);
  put(stream, 2, "c");
  CHECK(positions(stream.frames()) == Positions{1, 2});
  CHECK(stream.payload_bytes() == 7);
  CHECK(stream.evicted() == EvictedRange{{1}, 1, 4});
  // What does not fit at all leaves nothing.
  CHECK(put(stream, 3, std::string(11, 'd')) == Accepted::stored);
  CHECK(stream.empty());
  CHECK(stream.evicted() == EvictedRange{{4}, 4, 22});
  CHECK(put(stream, 4, "e") == Accepted::stored);
  CHECK(positions(stream.frames()) == Positions{4});
}

TEST_CASE("what_comes_below_the_evicted_horizon_is_late_and_no_conflict") {
  StoredStream stream{stream_id, {.frames = 2}};
  for (const std::uint64_t position : {0U, 2U, 3U, 4U})
    put(stream, position, "first");
  CHECK(put(stream, 0, "first") == Accepted::late_for_evicted);
  CHECK(put(stream, 0, "other") == Accepted::late_for_evicted);
  CHECK(put(stream, 1) == Accepted::late_for_evicted); // never stored, and lost for good
  CHECK(positions(stream.frames()) == Positions{3, 4});
  const IngestLedger ledger = stream.ledger();
  CHECK(ledger.late_for_evicted == 3);
  CHECK(ledger.conflicts == 0);
  CHECK(ledger.evicted == 2);
  CHECK(ledger.interior_gaps() == 1);
  CHECK(ledger.balanced());
}

TEST_CASE("a_frame_below_all_others_of_a_full_stream_is_evicted_at_once") {
  StoredStream stream{stream_id, {.frames = 2}};
  put(stream, 10);
  put(stream, 11);
  CHECK(put(stream, 5) == Accepted::stored);
  CHECK(positions(stream.frames()) == Positions{10, 11});
  CHECK(stream.evicted() == EvictedRange{{6}, 1, 1});
  CHECK(put(stream, 7) == Accepted::stored);
  CHECK(stream.evicted() == EvictedRange{{8}, 2, 2, 1});
}

TEST_CASE("the_last_position_of_all_can_be_evicted") {
  StoredStream stream{stream_id, {.frames = 0}};
  CHECK(put(stream, top) == Accepted::stored);
  CHECK(stream.empty());
  CHECK(stream.evicted() == EvictedRange{{top}, 1, 1});
  CHECK(put(stream, top) == Accepted::late_for_evicted);
}

TEST_CASE("what_was_evicted_is_no_gap") {
  StoredStream stream{stream_id, {.frames = 2}};
  for (const std::uint64_t position : {0U, 5U, 6U, 8U})
    put(stream, position);
  CHECK(gaps_of(stream) == GapList{{{7}, {7}}});
  CHECK(stream.evicted() == EvictedRange{{6}, 2, 2, 4});
}

TEST_CASE("a_gap_stays_when_the_frame_below_it_is_evicted") {
  StoredStream stream{stream_id, {.frames = 10}};
  for (std::uint64_t position = 0; position < 30; ++position)
    if (position < 10 || position >= 20)
      put(stream, position);
  CHECK(gaps_of(stream) == GapList{{{10}, {19}}});
  CHECK(stream.evicted() == EvictedRange{{10}, 10, 10, 0});
  put(stream, 30); // evicts the frame above the gap as well
  CHECK(stream.gaps().empty());
  CHECK(stream.evicted() == EvictedRange{{21}, 11, 11, 10});
  CHECK(stream.ledger().interior_gaps() == 10);
}

TEST_CASE("a_batch_that_fills_its_block_is_kept_by_reference") {
  int disposed = 0;
  {
    StoredStream stream{stream_id};
    const auto frames = run_of_frames(60, 200, 32);
    FrameBatch batch = batch_in(WatchedBlock::make(200 * 32 * 2, disposed), stream_id, frames);
    const char* const begin = batch.front().payload.data();
    CHECK(stream.accept(batch) == 200);
    batch = {};
    CHECK(disposed == 0);
    CHECK(stream.at({60})->payload.data() == begin);
    CHECK(stream.at({259})->to_frame() == frames.back());
  }
  CHECK(disposed == 1);
}

TEST_CASE("a_batch_that_uses_less_than_half_of_its_block_is_copied") {
  int disposed = 0;
  StoredStream stream{stream_id};
  const auto frames = run_of_frames(0, 200, 32);
  FrameBatch batch = batch_in(WatchedBlock::make(200 * 32 * 2 + 2, disposed), stream_id, frames);
  CHECK(stream.accept(batch) == 200);
  batch = {};
  CHECK(disposed == 1);
  CHECK(stream.at({199})->to_frame() == frames.back());
}

TEST_CASE("a_small_batch_is_copied") {
  int disposed = 0;
  StoredStream stream{stream_id};
  stream.accept(batch_in(WatchedBlock::make(32, disposed), stream_id, run_of_frames(0, 1, 32)));
  CHECK(disposed == 1);
  CHECK(stream.size() == 1);
}

TEST_CASE("a_batch_of_which_little_is_new_does_not_pin_its_block") {
  int disposed = 0;
  StoredStream stream{stream_id};
  const auto frames = run_of_frames(0, 200, 32);
  for (std::size_t i = 0; i < frames.size(); ++i)
    if (i % 3 != 0)
      put(stream, i, frames[i].payload);
  CHECK(stream.accept(batch_in(WatchedBlock::make(200 * 32, disposed), stream_id, frames)) == 67);
  CHECK(disposed == 1);
  CHECK(std::ranges::equal(stream.frames(), frames, {}, &FrameView::to_frame));
  CHECK(stream.ledger().duplicates == 133);

  // Nor does one that repeats a single position.
  std::vector<Frame> repeated(200, Frame{{1}, {1000}, std::string(32, 'r')});
  CHECK(stream.accept(batch_in(WatchedBlock::make(200 * 32, disposed), stream_id, repeated)) == 1);
  CHECK(disposed == 2);
  CHECK(stream.at({1000})->to_frame() == repeated.front());
}

TEST_CASE("a_block_that_overlaps_another_one_is_copied") {
  std::string memory(8192, '\0');
  for (const std::size_t offset : {0U, 1024U, 2048U, 3072U}) {
    CAPTURE(offset);
    StoredStream stream{stream_id};
    stream.accept(batch_in(BorrowedBlock::make(memory.data() + 1024, 2048), stream_id,
                           run_of_frames(0, 32, 64)));
    const FrameView kept = *stream.at({0});
    CHECK(kept.payload.data() == memory.data() + 1024);
    stream.accept(batch_in(BorrowedBlock::make(memory.data() + offset, 1024 + 512), stream_id,
                           run_of_frames(32, 16, 64)));
    const bool overlaps = offset != 3072;
    CHECK((stream.at({32})->payload.data() != memory.data() + offset) == overlaps);
  }
}

TEST_CASE("slices_of_one_block_keep_it_until_the_last_of_their_frames_is_evicted") {
  int disposed = 0;
  StoredStream stream{stream_id, {.frames = 300}};
  const auto frames = run_of_frames(0, 300, 32);
  FrameBatch batch = batch_in(WatchedBlock::make(300 * 32, disposed), stream_id, frames);
  CHECK(stream.accept(batch.slice(100, 200)) == 200);
  CHECK(stream.accept(batch.slice(0, 160)) == 100);
  batch = {};
  CHECK(std::ranges::equal(stream.frames(), frames, {}, &FrameView::to_frame));
  for (std::uint64_t position = 300; position < 599; ++position)
    put(stream, position);
  CHECK(disposed == 0);
  CHECK(stream.first() == Position{299});
  put(stream, 599);
  CHECK(disposed == 1);
}

TEST_CASE("a_block_goes_with_its_last_frame_and_not_with_its_neighbours") {
  // One large block a frame, the one that stays longest first: none waits for another.
  int disposed = 0;
  StoredStream stream{stream_id, {.frames = 2}};
  const auto accept = [&](std::uint64_t position) {
    stream.accept(
        batch_in(WatchedBlock::make(2048, disposed), stream_id, run_of_frames(position, 1, 2048)));
  };
  accept(4000);
  for (std::uint64_t position = 0; position < 100; ++position)
    accept(position);
  CHECK(disposed == 99);
}

TEST_CASE("memory_is_given_back_on_eviction") {
  const std::string payload(120, 'p');
  StoredStream stream{stream_id, {.frames = 1000}};
  std::size_t most = 0;
  for (std::uint64_t position = 0; position < 200'000; ++position) {
    put(stream, position, payload);
    most = std::max(most, stream.memory_bytes());
  }
  // Two blocks of 2 MiB at most: one is being filled, frames of one are still stored.
  CHECK(most < (5U << 20U));
  CHECK(std::ranges::all_of(stream.frames(), [&](auto f) { return f.payload == payload; }));
}

TEST_CASE("a_few_small_frames_do_not_keep_the_large_blocks_that_they_came_in") {
  constexpr std::size_t mebibyte = 1U << 20U;
  for (const bool one_by_one : {false, true}) { // in blocks of batches, or copied into our own
    CAPTURE(one_by_one);
    StoredStream stream{stream_id, {.frames = 1000, .bytes = mebibyte}};
    std::vector<Frame> kept;
    for (std::uint64_t k = 0; k < 300; ++k) {
      // A small frame high up, which stays, and as many below as fill a block, which go.
      std::vector<Frame> frames = run_of_frames(k * 20, 20, mebibyte / 20);
      kept.push_back({{1}, {(std::uint64_t{1} << 62U) + k}, "high " + std::to_string(k)});
      frames.insert(frames.begin() + static_cast<std::ptrdiff_t>(k % 20), kept.back());
      if (one_by_one)
        for (const Frame& frame : frames)
          put(stream, frame.position.value, frame.payload);
      else
        stream.accept(FrameBatch::copy_of(stream_id, frames));
      REQUIRE(stream.memory_bytes() < 4 * stream.payload_bytes() + 5 * mebibyte);
    }
    CHECK(std::ranges::equal(stream.frames_from(kept.front().position), kept, {},
                             &FrameView::to_frame));
    CHECK(stream.ledger().balanced());
  }
}

TEST_CASE("a_frame_in_order_costs_at_most_35_bytes_beyond_its_payload") {
  constexpr std::size_t frames = 200'000;
  constexpr std::size_t bytes = 120;
  StoredStream stream{stream_id};
  for (std::size_t first = 0; first < frames; first += 1000)
    stream.accept(FrameBatch::copy_of(stream_id, run_of_frames(first, 1000, bytes)));
  CHECK(stream.size() == frames);
  CHECK(stream.memory_bytes() < frames * (bytes + 35));
}

TEST_CASE("a_frame_alone_costs_at_most_200_bytes_beyond_its_payload") {
  constexpr std::size_t frames = 10'000;
  StoredStream stream{stream_id};
  const std::size_t before = stream.memory_bytes();
  for (std::uint64_t i = 0; i < frames; ++i)
    put(stream, i * 4096, "");
  CHECK(stream.memory_bytes() - before < frames * 200);
}

TEST_CASE("large_payloads_have_blocks_of_their_own") {
  StoredStream stream{stream_id, {.bytes = 3U << 20U}};
  for (std::uint64_t position = 0; position < 40; ++position)
    put(stream, position, std::string((1U << 20U) - position, static_cast<char>('a' + position)));
  CHECK(stream.size() == 3);
  CHECK(stream.memory_bytes() < (4U << 20U));
  for (const FrameView& frame : stream.frames())
    CHECK(frame.payload == std::string((1U << 20U) - frame.position.value,
                                       static_cast<char>('a' + frame.position.value)));
}

TEST_CASE("a_payload_larger_than_any_shared_block_is_stored_whole") {
  StoredStream stream{stream_id};
  for (std::uint64_t position = 0; position < 3; ++position)
    put(stream, position, std::string((5U << 20U) + position, static_cast<char>('a' + position)));
  for (const FrameView& frame : stream.frames())
    CHECK(frame.payload == std::string((5U << 20U) + frame.position.value,
                                       static_cast<char>('a' + frame.position.value)));
}

TEST_CASE("the_ledger_remembers_the_bounds_of_what_was_evicted") {
  StoredStream stream{stream_id, {.frames = 2}};
  for (const std::uint64_t position : {40U, 900U, 30U, 50U, 60U})
    put(stream, position);
  CHECK(positions(stream.frames()) == Positions{60, 900});
  CHECK(stream.ledger().lowest_stored == Position{30});
  CHECK(stream.ledger().highest_stored == Position{900});

  StoredStream empty{stream_id, {.frames = 0}};
  put(empty, 7);
  put(empty, 9);
  CHECK(empty.empty());
  CHECK(empty.ledger().lowest_stored == Position{7});
  CHECK(empty.ledger().highest_stored == Position{9});
}

TEST_CASE("dense_and_sparse_stretches_of_one_stream_share_an_index") {
  constexpr std::size_t stretch = 10'000;
  StoredStream stream{stream_id};
  Positions expected;
  for (std::uint64_t position = 0; position < stretch; ++position)
    expected.push_back(position);
  // Every chunk of 4,096 positions has one frame; low bits of the chunks' numbers repeat.
  for (std::uint64_t i = 0; i < stretch; ++i)
    expected.push_back((i + 64) << 20U | i % 4096);
  for (const std::uint64_t position : expected)
    CHECK(put(stream, position) == Accepted::stored);
  for (const std::uint64_t position : expected)
    CHECK(put(stream, position) == Accepted::duplicate);
  CHECK(positions(stream.frames()) == expected);
  CHECK(stream.memory_bytes() < stretch * (40 + 200));
}

TEST_CASE("everything_offered_is_stored_or_missing_once_the_stream_has_ended") {
  StoredStream stream{stream_id};
  stream.expect_from({10});
  for (const std::uint64_t position : {12U, 13U, 16U})
    put(stream, position);
  CHECK(stream.ledger().leading() == 2);
  CHECK_FALSE(stream.ledger().trailing());
  stream.expect_until(20);
  CHECK(stream.ledger().trailing() == 3);
  CHECK(stream.ledger().missing() == 2 + 2 + 3);
  CHECK(stream.ledger().balanced());
}

TEST_CASE("the_lowest_of_several_first_offers_counts") {
  StoredStream stream{stream_id};
  stream.expect_from({10});
  stream.expect_from({30});
  CHECK(stream.ledger().from == Position{10});
  put(stream, 4);
  CHECK(stream.ledger().from == Position{4});
}

TEST_CASE("a_stream_keeps_its_frames_when_it_is_moved") {
  StoredStream from{stream_id, {.frames = 100}};
  for (std::uint64_t position = 0; position < 150; ++position)
    put(from, position, std::to_string(position));
  StoredStream to = std::move(from);
  for (std::uint64_t position = 150; position < 300; ++position)
    put(to, position, std::to_string(position));
  CHECK(to.size() == 100);
  CHECK(to.first() == Position{200});
  for (const FrameView& frame : to.frames())
    CHECK(frame.payload == std::to_string(frame.position.value));
}

TEST_CASE("streams_of_several_threads_reuse_each_others_memory_without_mixing_payloads") {
  const auto fill = [](char letter, bool& intact) {
    for (int round = 0; round < 6; ++round) {
      StoredStream stream{stream_id, {.bytes = 4U << 20U}};
      const std::string payload(1500, letter);
      for (std::uint64_t position = 0; position < 5000; ++position)
        put(stream, position, payload);
      for (const FrameView& frame : stream.frames())
        intact = intact && frame.payload == payload;
    }
  };
  std::array<bool, 3> intact{true, true, true};
  {
    std::array<std::jthread, 3> threads;
    for (std::size_t i = 0; i < threads.size(); ++i)
      threads[i] = std::jthread(fill, static_cast<char>('a' + i), std::ref(intact[i]));
  }
  CHECK(intact == std::array<bool, 3>{true, true, true});
}
