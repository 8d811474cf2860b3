/// Specification 9.1, invariant 14: a slow subscriber loses its own copies only, and blocks neither
/// the endpoint nor anybody else.

#include <datastream/pipe/endpoint.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace datastream;

namespace {

/// Receives and never acknowledges.
class SilentSink final : public SubscriberSink {
public:
  void deliver(EventBatch) override {}
};

} // namespace

TEST_CASE("invariant_14_subscriber_isolation") {
  DatastreamEndpoint endpoint(StreamId{"node", {1}});
  const DatastreamProducer out = endpoint.producer();
  const auto all = SubscriptionRequest::all();
  auto idle = endpoint.subscribe("never reads", all, {.frames = 3});
  auto poor = endpoint.subscribe("has few bytes", all, {.frames = 1000, .bytes = 16});
  const auto silent =
      endpoint.attach("never acknowledges", all, {.frames = 5}, std::make_unique<SilentSink>());
  auto healthy = endpoint.subscribe("healthy", all, {.frames = 16});
  auto leaving = std::make_unique<DatastreamSubscription>(endpoint.subscribe("leaves", all));

  std::uint64_t submitted = 0;
  std::uint64_t received = 0;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 8; ++i)
      REQUIRE(out.submit_text(ChannelId{1}, std::to_string(submitted++)));
    const EndpointTick tick = endpoint.tick();
    CHECK(tick.drained == 8);
    CHECK(tick.delivered + tick.dropped_for_subscribers == 8 * tick.subscribers);
    while (auto delivery = healthy.try_recv()) {
      CHECK(delivery->dropped == 0);
      for (const FrameView& frame : delivery->frames) {
        CHECK(frame.position == Position{received});
        CHECK(frame.payload == std::to_string(received++));
      }
    }
    if (round == 20)
      leaving.reset();
  }
  CHECK(received == submitted);

  const PipeLedger ledger = endpoint.ledger();
  CHECK(ledger.balanced());
  CHECK(ledger.refused.total() == 0);
  CHECK(healthy.counts() == SubscriberCounts{.offered = 400, .acknowledged = 400});
  CHECK(idle.counts() == SubscriberCounts{.offered = 400, .dropped = 397, .outstanding = 3});
  CHECK(poor.counts().dropped == 400 - poor.counts().outstanding);
  CHECK(poor.counts().dropped > 0);
  for (const SubscriberLedger& subscriber : ledger.fanout.subscribers)
    if (subscriber.id == silent.id)
      CHECK(subscriber.counts ==
            SubscriberCounts{.offered = 400, .dropped = 395, .outstanding = 5});
  CHECK(ledger.fanout.departed.abandoned == ledger.fanout.departed.offered);
  CHECK(ledger.fanout.departed.offered == 21 * 8);
}
