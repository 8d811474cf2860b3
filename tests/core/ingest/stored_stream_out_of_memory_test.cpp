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

#endif
