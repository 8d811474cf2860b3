/// Specification 9.1, invariant 4: positions are assigned while draining; within a stream they
/// ascend and are never used again.

#include <datastream/pipe/endpoint.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

using namespace datastream;

TEST_CASE("invariant_04_drain_time_position_assignment") {
  DatastreamEndpoint endpoint(StreamId{"node", {1}}, {.mux = {.frames = 64}});
  const DatastreamProducer out = endpoint.producer();

  SUBCASE("nothing has a position before it is drained") {
    for (int i = 0; i < 10; ++i)
      REQUIRE(out.submit_text(ChannelId{1}, "x"));
    CHECK(endpoint.ledger().assigned == 0);
    CHECK(endpoint.ledger().in_mux == 10);
    endpoint.tick();
    CHECK(endpoint.ledger().assigned == 10);
    CHECK(endpoint.ledger().in_mux == 0);
  }

  SUBCASE("one sequence spans channels, ways to drain, refusals and threads") {
    auto reader = endpoint.subscribe("reader", SubscriptionRequest::all(), {.frames = 1U << 20U});
    constexpr std::uint32_t producers = 3;
    std::atomic<std::uint64_t> accepted = 0;
    std::atomic<std::uint32_t> running = producers;
    std::vector<std::jthread> threads;
    for (std::uint32_t p = 0; p < producers; ++p)
      threads.emplace_back([&, p] {
        for (int i = 0; i < 3000; ++i)
          accepted += out.submit_text(ChannelId{p}, std::to_string(i)) ? 1 : 0;
        --running;
      });
    std::vector<FrameBatch> direct;
    std::vector<std::uint64_t> owner; // by position: how often it was given out
    const auto seen = [&](const FrameBatch& batch) {
      for (const FrameView& frame : batch) {
        owner.resize(std::max<std::size_t>(owner.size(), frame.position.value + 1));
        ++owner[frame.position.value];
      }
    };
    const auto drain = [&](std::uint64_t round) {
      if (round % 2) {
        endpoint.tick();
      } else {
        direct.clear();
        endpoint.drain_directly(direct);
        for (const FrameBatch& batch : direct)
          seen(batch);
      }
    };
    for (std::uint64_t round = 0; running > 0; ++round)
      drain(round);
    drain(0);
    std::uint64_t last = 0;
    while (auto delivery = reader.try_recv()) {
      seen(delivery->frames);
      for (const FrameView& frame : delivery->frames) {
        CHECK(frame.position.value >= last);
        last = frame.position.value + 1;
      }
    }
    CHECK(owner == std::vector<std::uint64_t>(accepted, 1)); // every one, exactly once
    CHECK(endpoint.ledger().assigned == accepted);
  }
}
