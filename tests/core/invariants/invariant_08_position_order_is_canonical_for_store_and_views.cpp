#include <datastream/ingest/consumer.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <ranges>
#include <string>
#include <vector>

using namespace datastream;

/// Whatever order frames arrive in, by themselves or in batches that do not ascend, a store reads
/// them in the order of their positions.
TEST_CASE("invariant_08_position_order_is_canonical_for_store_and_views") {
  const StreamId id{"node", {1}};
  std::mt19937_64 random(8);
  std::vector<Frame> frames;
  for (std::uint64_t i = 0; i < 3000; ++i)
    frames.push_back({{static_cast<std::uint32_t>(1 + i % 3)}, {i * i}, std::to_string(i)});
  std::vector<Frame> arriving = frames;
  std::ranges::shuffle(arriving, random);

  Consumer consumer;
  for (std::size_t first = 0; first < arriving.size(); first += 500) {
    const auto part = std::span(arriving).subspan(first, 500);
    if (first % 1000 == 0)
      consumer.accept(FrameBatch::copy_of(id, part));
    else
      for (const Frame& frame : part)
        consumer.accept(Delivery{id, frame});
  }

  const StoredStream& stream = *consumer.store().find(id);
  CHECK(std::ranges::equal(stream.frames(), frames, {}, &FrameView::to_frame));
  CHECK(std::ranges::equal(stream.frames() | std::views::reverse, frames | std::views::reverse, {},
                           &FrameView::to_frame));
}
