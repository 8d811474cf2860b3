/// From envelopes in one block to batches.

#include <datastream/envelope/batcher.hpp>

#include <datastream/defaults.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

using namespace datastream;

namespace {

/// Envelopes one behind the other in one block.
struct Received {
  explicit Received(const std::vector<Delivery>& deliveries, std::size_t spare = 0) {
    std::string bytes;
    std::vector<std::size_t> ends;
    for (const Delivery& delivery : deliveries) {
      std::string envelope;
      const Frame& frame = delivery.frame;
      REQUIRE(encode_envelope(envelope, delivery.stream,
                              {frame.channel, frame.position, frame.payload, {}}));
      bytes += envelope;
      ends.push_back(bytes.size());
    }
    block = allocate_block(bytes.size() + spare);
    std::memcpy(block->data(), bytes.data(), bytes.size());
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      envelopes.push_back(decode_envelope({block->data() + begin, end - begin}).value());
      begin = end;
    }
  }

  BlockPtr block;
  std::vector<EnvelopeView> envelopes;
};

Delivery delivery(const std::string& node, std::uint64_t position, const std::string& payload) {
  return {{node, {1}}, {{1}, {position}, payload}};
}

std::vector<FrameBatch> batches_of(EnvelopeBatcher& batcher, const Received& received) {
  std::vector<FrameBatch> batches;
  for (const EnvelopeView& envelope : received.envelopes)
    if (!batcher.add(envelope, received.block)) {
      batcher.take(received.block, batches);
      REQUIRE(batcher.add(envelope, received.block));
    }
  CHECK(batcher.size() > 0);
  batcher.take(received.block, batches);
  CHECK(batcher.size() == 0);
  return batches;
}

} // namespace

TEST_CASE("envelopes_of_two_streams_become_a_batch_of_each_without_a_copy") {
  const std::string large(1000, 'x');
  const Received received({delivery("a", 0, large), delivery("b", 7, large), delivery("a", 1, ""),
                           delivery("a", 2, large)});
  EnvelopeBatcher batcher;
  const auto batches = batches_of(batcher, received);
  REQUIRE(batches.size() == 2);
  CHECK(batches[0].stream() == StreamId{"a", {1}});
  REQUIRE(batches[0].size() == 3);
  CHECK(batches[0][0].payload.data() == received.envelopes[0].payload.data());
  CHECK(batches[0][1].payload.empty());
  CHECK(batches[0][2].position == Position{2});
  CHECK(batches[1].stream() == StreamId{"b", {1}});
  CHECK(batches[1][0].position == Position{7});
  CHECK(batches[1][0].payload == large);
}

TEST_CASE("a_batch_that_would_pin_more_than_twice_its_payload_has_memory_of_its_own") {
  const Received received({delivery("a", 0, "small")}, 1U << 20U);
  EnvelopeBatcher batcher;
  const auto batches = batches_of(batcher, received);
  REQUIRE(batches.size() == 1);
  CHECK(batches[0][0].payload == "small");
  CHECK(batches[0].pinned_bytes() == 5);
}

TEST_CASE("no_batch_has_more_frames_than_a_batch_may_have") {
  std::vector<Delivery> deliveries;
  for (std::uint64_t i = 0; i <= defaults::batch_frames; ++i)
    deliveries.push_back(delivery("a", i, "payload"));
  EnvelopeBatcher batcher;
  const auto batches = batches_of(batcher, Received(deliveries));
  REQUIRE(batches.size() == 2);
  CHECK(batches[0].size() == defaults::batch_frames);
  CHECK(batches[1].front().position == Position{defaults::batch_frames});
}

TEST_CASE("exactly_as_many_streams_are_collected_as_can_be") {
  std::vector<Delivery> deliveries;
  for (std::size_t i = 0; i <= EnvelopeBatcher::streams_max; ++i)
    deliveries.push_back(delivery("node-" + std::to_string(i), 0, "payload"));
  const Received received(deliveries);
  EnvelopeBatcher batcher;
  for (std::size_t i = 0; i < EnvelopeBatcher::streams_max; ++i)
    CHECK(batcher.add(received.envelopes[i], received.block));
  CHECK(!batcher.add(received.envelopes.back(), received.block));
  CHECK(batcher.size() == EnvelopeBatcher::streams_max);
}

TEST_CASE("any_number_of_streams_in_any_order_keep_all_frames_in_the_order_of_each_stream") {
  std::vector<Delivery> deliveries;
  std::map<StreamId, std::vector<Frame>> expected;
  std::uint64_t seed = 1;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    deliveries.push_back(
        delivery("node-" + std::to_string((seed >> 33U) % 200), i, std::string(seed >> 59U, 'p')));
    expected[deliveries.back().stream].push_back(deliveries.back().frame);
  }
  EnvelopeBatcher batcher;
  for (int round = 0; round < 2; ++round) { // the second one finds the streams of the first
    std::map<StreamId, std::vector<Frame>> got;
    for (const FrameBatch& batch : batches_of(batcher, Received(deliveries)))
      for (const FrameView& frame : batch)
        got[batch.stream()].push_back(frame.to_frame());
    CHECK(got == expected);
  }
}

TEST_CASE("what_is_kept_of_streams_for_their_next_envelopes_is_bounded_in_bytes") {
  EnvelopeBatcher batcher;
  const std::string long_name(EnvelopeBatcher::kept_bytes_max, 'n');
  // What the batcher keeps of a stream it gives to the next batch of it.
  const auto again = [&](const std::string& node) {
    const FrameBatch before = batches_of(batcher, Received({delivery(node, 0, "payload")}))[0];
    const FrameBatch after = batches_of(batcher, Received({delivery(node, 1, "payload")}))[0];
    CHECK(before.stream() == after.stream());
    return before.shared_stream() == after.shared_stream();
  };
  CHECK(again("short"));
  CHECK(!again(long_name));
  // Many of middling size: some are kept, and not all.
  std::vector<Delivery> deliveries;
  for (std::size_t i = 0; i < EnvelopeBatcher::streams_max; ++i)
    deliveries.push_back(delivery(std::to_string(i) + std::string(20'000, 'n'), 0, "payload"));
  const auto first = batches_of(batcher, Received(deliveries));
  const std::size_t kept = static_cast<std::size_t>(std::ranges::count_if(
      first, [](const FrameBatch& batch) { return batch.shared_stream().use_count() > 1; }));
  CHECK(kept > 5);
  CHECK(kept * 20'000 <= EnvelopeBatcher::kept_bytes_max);
}

TEST_CASE("room_for_the_headers_of_a_flood_of_frames_is_not_kept") {
  std::vector<Delivery> deliveries;
  for (std::uint64_t i = 0; i < 20'000; ++i)
    deliveries.push_back(delivery("a", i, ""));
  EnvelopeBatcher batcher;
  const auto batches = batches_of(batcher, Received(deliveries));
  CHECK(batches.size() == 20);
  CHECK(batches[0].shared_stream().use_count() == 20); // and the batcher has none
}
