/// Specification 9.1, invariant 7: a full mux drops instead of blocking a producer.

#include <datastream/pipe/endpoint.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <semaphore>
#include <thread>
#include <vector>

using namespace datastream;

namespace {

/// A subscriber that keeps the endpoint in the middle of a tick.
class StuckSink final : public SubscriberSink {
public:
  StuckSink(std::binary_semaphore& entered, std::binary_semaphore& leave)
      : entered_(entered), leave_(leave) {}
  void deliver(EventBatch batch) override {
    if (batch.frames.empty())
      return;
    entered_.release();
    leave_.acquire();
  }

private:
  std::binary_semaphore& entered_;
  std::binary_semaphore& leave_;
};

} // namespace

TEST_CASE("invariant_07_no_producer_back_pressure") {
  DatastreamEndpoint endpoint(StreamId{"node", {1}}, {.mux = {.frames = 8}});
  const DatastreamProducer out = endpoint.producer();

  // Submits far more than fits. If a call waited for room, this would never return.
  const auto flood = [&out](std::atomic<std::uint64_t>& accepted) {
    std::vector<std::jthread> producers;
    for (int p = 0; p < 3; ++p)
      producers.emplace_back([&] {
        for (int i = 0; i < 5000; ++i)
          accepted += out.submit_text(ChannelId{1}, "x") ? 1 : 0;
      });
  };

  SUBCASE("while nobody drains at all") {
    std::atomic<std::uint64_t> accepted = 0;
    flood(accepted);
    CHECK(accepted == 8);
    CHECK(endpoint.ledger().refused == RefusedCounts{.mux_frames_full = 15'000 - 8});
  }

  SUBCASE("while the drainer is stuck in the middle of a tick") {
    std::binary_semaphore entered{0};
    std::binary_semaphore leave{0};
    endpoint.attach("stuck", SubscriptionRequest::all(), {},
                    std::make_unique<StuckSink>(entered, leave));
    REQUIRE(out.submit_text(ChannelId{1}, "the one that is stuck"));
    std::jthread drainer([&] { endpoint.tick(); });
    entered.acquire();
    std::atomic<std::uint64_t> accepted = 0;
    flood(accepted);
    CHECK(accepted == 8);
    CHECK(out.register_channel("registering does not wait either", Bytes{}) == ChannelId{1});
    leave.release();
    drainer.join();
    CHECK(endpoint.ledger().refused == RefusedCounts{.mux_frames_full = 15'000 - 8});
    CHECK(endpoint.ledger().balanced());
  }
}
