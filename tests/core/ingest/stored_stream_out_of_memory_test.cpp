/// A stored stream when any one allocation fails: it holds a part of the batch, and no memory of
/// which it holds nothing.

#include <under_tsan.hpp>

#if !DATASTREAM_UNDER_TSAN

#include "batches.hpp"

#include <datastream/ingest/stored_stream.hpp>

#include <shortage.hpp>

#include <doctest/doctest.h>

#include <new>

using namespace datastream;
using namespace ingest_test;
using datastream::test::Shortage;

TEST_CASE("a_batch_that_finds_no_memory_is_stored_in_part_and_whole_when_it_comes_again") {
  const StreamId id{"node", {1}};
  const auto frames = run_of_frames(100, 300, 64);
  std::size_t n = 0;
  std::size_t unused = 0;
  bool failed = true;
  for (; failed; ++n) {
    CAPTURE(n);
    int disposed = 0;
    {
      FrameBatch batch = batch_in(WatchedBlock::make(300 * 64, disposed), id, frames);
      StoredStream stream(id);
      std::size_t stored = 0;
      try {
        const Shortage shortage(n);
        stored = stream.accept(batch);
      } catch (const std::bad_alloc&) {
        stored = stream.size();
      }
      failed = Shortage::happened();
      REQUIRE(stream.size() == stored);
      REQUIRE(stream.ledger().balanced());
      if (stored == 0) { // then nothing of it is kept
        batch = {};
        REQUIRE(disposed == 1);
        ++unused;
        continue;
      }
      REQUIRE(stream.accept(batch) == frames.size() - stored);
      REQUIRE(stream.payload_bytes() == 300 * 64);
    }
    REQUIRE(disposed == 1);
  }
  CHECK(n > 4);
  CHECK(unused > 2);
}

TEST_CASE("payloads_that_cannot_be_copied_together_stay_where_they_are") {
  const StreamId id{"node", {1}};
  constexpr std::size_t large = 5U << 20U;
  bool failed = true;
  std::size_t n = 0;
  for (; failed; ++n) {
    CAPTURE(n);
    int disposed = 0;
    StoredStream stream(id, {.frames = 8, .bytes = large});
    std::vector<FrameBatch> batches;
    for (std::uint64_t k = 0; k < 8; ++k) {
      std::vector<Frame> frames = run_of_frames(k, 1, large - 8);
      frames.push_back({{1}, {1000 + k}, "high"});
      batches.push_back(batch_in(WatchedBlock::make(large, disposed), id, frames));
    }
    for (std::size_t k = 0; k < 7; ++k)
      stream.accept(batches[k]);
    std::size_t lost = 0; // of the last one
    try {
      const Shortage shortage(n);
      stream.accept(batches.back());
    } catch (const std::bad_alloc&) {
      lost = 1;
    }
    failed = Shortage::happened();
    REQUIRE(stream.ledger().balanced());
    std::size_t high = 0;
    for (const FrameView& frame : stream.frames_from({1000}))
      high += frame.payload == "high" ? 1 : 0;
    REQUIRE(high >= 8 - lost);
    batches.clear();
    stream.accept(FrameView{{1}, {2000}, "more", {}}); // and is copied now, if it was not
    stream.accept(FrameView{{1}, {2001}, "more", {}});
    REQUIRE(disposed == 8);
  }
  CHECK(n > 2);
}

TEST_CASE("a_stream_without_memory_to_copy_payloads_together_goes_on_with_the_room_that_it_has") {
  constexpr std::size_t large = 5U << 20U;
  int disposed = 0;
  StoredStream stream({"node", {1}}, {.frames = 20});
  for (std::uint64_t k = 0; k < 5; ++k) {
    std::vector<Frame> frames = run_of_frames(k, 1, large - 8);
    frames.push_back({{1}, {1000 + k}, "high"});
    stream.accept(batch_in(WatchedBlock::make(large, disposed), stream.id(), frames));
  }
  const auto accept_small = [&](std::uint64_t position) {
    return stream.accept(FrameView{{1}, {position}, "small", {}}) == StoredStream::Accepted::stored;
  };
  for (std::uint64_t k = 0; k < 10; ++k) // so that the index has room for more
    REQUIRE(accept_small(5000 + k));
  bool all = true;
  {
    const Shortage shortage(0, Shortage::Of::all);
    for (std::uint64_t k = 10; k < 15; ++k) // evicts what is large
      all &= accept_small(5000 + k);
  }
  CHECK(Shortage::happened());
  CHECK(all);
  CHECK(disposed == 0);
  CHECK(accept_small(5015)); // and copies now
  CHECK(disposed == 5);
}

#endif
