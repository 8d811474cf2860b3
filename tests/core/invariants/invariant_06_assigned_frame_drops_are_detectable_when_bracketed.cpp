#include <datastream/ingest/consumer.hpp>
#include <datastream/testing/scripted_transport.hpp>

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

using namespace datastream;

/// A frame that is lost between two that arrive is a gap at exactly its position, and every frame
/// that arrives keeps the position it had: nothing is renumbered or filled in.
TEST_CASE("invariant_06_assigned_frame_drops_are_detectable_when_bracketed") {
  const StreamId id{"node", {1}};
  constexpr std::uint64_t count = 10'000;
  std::vector<Frame> frames;
  for (std::uint64_t i = 0; i < count; ++i)
    frames.push_back({{1}, {i}, std::to_string(i)});

  std::mt19937_64 random(6);
  for (const std::uint64_t one_in : {2U, 10U, 1000U}) {
    testing::Script script{.reorder = testing::reorder::Windows{1 + random() % 300}};
    // Losses single and in a row; the first and the last frame arrive and bracket them.
    for (std::uint64_t i = 1; i + 1 < count; ++i)
      if (random() % one_in == 0 || (i > 4000 && i < 6000))
        script.drop.insert({i});

    Consumer consumer;
    consumer.ingest(testing::ScriptedTransport{script}.carry(id, frames));
    StoredStream& stream = *consumer.store().find(id);

    std::set<Position> missing;
    for (const GapSpan& gap : stream.gaps())
      for (std::uint64_t i = gap.first.value; i <= gap.last.value; ++i)
        missing.insert({i});
    CHECK(missing == script.drop);
    CHECK(stream.ledger().interior_gaps() == script.drop.size());
    for (const FrameView& frame : stream.frames())
      CHECK(frame.payload == std::to_string(frame.position.value));

    stream.expect_from({0});
    stream.expect_until(count);
    CHECK(stream.ledger().missing() == script.drop.size());
    CHECK(stream.ledger().balanced());
  }
}
