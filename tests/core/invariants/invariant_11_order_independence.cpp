#include <datastream/ingest/consumer.hpp>
#include <datastream/testing/scripted_transport.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace datastream;

/// Reordered and delayed deliveries give the same stored stream as deliveries in order: the same
/// frames, gaps and ledger.
TEST_CASE("invariant_11_order_independence") {
  const StreamId id{"node", {1}};
  std::vector<Frame> frames;
  for (std::uint64_t i = 0; i < 5000; ++i)
    frames.push_back({{static_cast<std::uint32_t>(1 + i % 4)}, {i}, std::to_string(i)});
  const std::set<Position> drop{{1}, {63}, {64}, {65}, {2000}, {4095}, {4096}};

  Consumer in_order;
  in_order.ingest(testing::ScriptedTransport{{.drop = drop}}.carry(id, frames));
  const StoredStream& expected = *in_order.store().find(id);

  std::mt19937_64 random(11);
  std::vector<std::size_t> indices(frames.size() - drop.size());
  std::iota(indices.begin(), indices.end(), 0);
  std::vector<testing::Script> scripts;
  scripts.push_back({.drop = drop, .reorder = testing::reorder::Reversed{}});
  for (const std::size_t window : {2U, 64U, 100U, 4096U})
    scripts.push_back({.drop = drop, .reorder = testing::reorder::Windows{window}});
  for (int round = 0; round < 5; ++round) {
    std::ranges::shuffle(indices, random);
    scripts.push_back({.drop = drop, .reorder = testing::reorder::Permutation{indices}});
    testing::Script delays{.drop = drop};
    for (const Frame& frame : frames)
      delays.delay[frame.position] = random() % 500;
    scripts.push_back(std::move(delays));
  }

  for (const testing::Script& script : scripts) {
    const auto deliveries = testing::ScriptedTransport{script}.carry(id, frames);
    Consumer one_by_one;
    one_by_one.ingest(deliveries);
    std::vector<Frame> arrived;
    for (const Delivery& delivery : deliveries)
      arrived.push_back(delivery.frame);
    Consumer in_batches;
    for (std::size_t first = 0; first < arrived.size(); first += 700)
      in_batches.accept(FrameBatch::copy_of(
          id,
          std::span(arrived).subspan(first, std::min<std::size_t>(700, arrived.size() - first))));

    for (const Consumer* consumer : {&one_by_one, &in_batches}) {
      const StoredStream& stream = *consumer->store().find(id);
      CHECK(std::ranges::equal(stream.frames(), expected.frames(), {}, &FrameView::to_frame,
                               &FrameView::to_frame));
      CHECK(std::ranges::equal(stream.gaps(), expected.gaps()));
      CHECK(stream.ledger() == expected.ledger());
    }
  }
}
