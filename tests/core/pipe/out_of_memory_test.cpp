/// The pipe when any one allocation fails: what is lost is counted, and nothing comes twice.

#include <under_tsan.hpp>

#if !DATASTREAM_UNDER_TSAN

#include "pipe_support.hpp"

#include <shortage.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <new>

using namespace datastream;
using namespace pipe_test;
using datastream::test::Shortage;

namespace {

/// Keeps what it is given, and may find no memory for it.
class KeepingSink final : public SubscriberSink {
public:
  explicit KeepingSink(std::vector<EventBatch>& kept) : kept_(kept) {}
  void deliver(EventBatch batch) override { kept_.push_back(std::move(batch)); }

private:
  std::vector<EventBatch>& kept_;
};

/// An endpoint with both kinds of subscribers, and things of every size on their way.
struct Busy {
  Busy()
      : endpoint(stream_id), out(endpoint.producer()), pulled(endpoint.subscribe("pulled")),
        pushed(endpoint
                   .attach("pushed", SubscriptionRequest::all(), {.frames = 70},
                           std::make_unique<KeepingSink>(kept))
                   .id) {
    for (int i = 0; i < 40; ++i)
      submit(std::string(static_cast<std::size_t>(i) * 700, 'x'));
    submit(std::string(defaults::slab_payload_max + 1, 'x'));
    out.register_channel("new", Bytes{});
    for (int i = 0; i < 40; ++i)
      submit("y");
  }

  void submit(std::string bytes) { accepted += out.submit_bytes(ChannelId{1}, bytes) ? 1 : 0; }

  /// Everything that was accepted has come or is counted; nothing came twice.
  void check(std::uint64_t taken_directly = 0) {
    endpoint.tick();
    const auto got = pulled.drain_available();
    const PipeLedger ledger = endpoint.ledger();
    REQUIRE(ledger.balanced());
    REQUIRE(ledger.in_mux == 0);
    REQUIRE(ledger.assigned == accepted);
    REQUIRE(ledger.drained_directly == taken_directly);
    REQUIRE(pulled.counts().offered == accepted - taken_directly);
    REQUIRE(declared_names(got) == std::vector<std::string>{"new"});
    REQUIRE(declared_names(kept) == std::vector<std::string>{"new"});
    for (const auto& deliveries : {got, kept}) {
      const auto positions = positions_of(deliveries);
      REQUIRE(std::ranges::adjacent_find(positions, std::greater_equal()) == positions.end());
    }
    REQUIRE(positions_of(got).size() == pulled.counts().acknowledged);
    for (std::size_t i = 0; i < kept.size(); ++i)
      REQUIRE(kept[i].sequence == i + 1);
  }

  std::vector<EventBatch> kept;
  DatastreamEndpoint endpoint;
  DatastreamProducer out;
  DatastreamSubscription pulled;
  SubscriptionId pushed;
  std::uint64_t accepted = 0;
};

} // namespace

TEST_CASE("a_tick_that_finds_no_memory_loses_counted_copies_only") {
  std::size_t n = 0;
  do {
    CAPTURE(n);
    Busy busy;
    {
      const Shortage shortage(n++);
      busy.endpoint.tick();
    }
    busy.check();
  } while (Shortage::happened());
  CHECK(n > 10); // many allocations were tried
}

TEST_CASE("a_direct_drain_that_finds_no_memory_keeps_the_ledger") {
  std::size_t n = 0;
  bool failed = false;
  do {
    CAPTURE(n);
    Busy busy;
    std::vector<FrameBatch> batches;
    std::uint64_t taken = 0;
    {
      const Shortage shortage(n++);
      try {
        taken = busy.endpoint.drain_directly(batches);
      } catch (const std::bad_alloc&) {
      }
    }
    failed = Shortage::happened();
    std::uint64_t frames = 0;
    for (const FrameBatch& batch : batches)
      frames += batch.size();
    REQUIRE(frames == taken);
    busy.check(taken);
  } while (failed);
  CHECK(n > 3);
}

TEST_CASE("a_receive_that_finds_no_memory_loses_nothing") {
  std::size_t n = 0;
  bool failed = false;
  do {
    CAPTURE(n);
    Busy busy;
    busy.endpoint.tick();
    {
      const Shortage shortage(n++);
      try {
        const auto delivery = busy.pulled.try_recv();
        REQUIRE(delivery);
      } catch (const std::bad_alloc&) {
      }
    }
    failed = Shortage::happened();
    REQUIRE(busy.endpoint.ledger().balanced());
    const auto rest = busy.pulled.drain_available();
    if (failed)
      REQUIRE(declared_names(rest) == std::vector<std::string>{"new"});
    REQUIRE(busy.pulled.counts().acknowledged == 81);
  } while (failed);
  CHECK(n > 1);
}

TEST_CASE("a_submission_that_finds_no_memory_is_refused_and_counted") {
  const std::string large(1U << 20U, 'x');
  std::string owned = large;
  Mux mux(stream_id);
  {
    const Shortage shortage(0);
    CHECK(!mux.submit(ChannelId{1}, large));
  }
  {
    const Shortage shortage(0);
    CHECK(!mux.submit_owned(ChannelId{1}, std::move(owned)));
  }
  CHECK(mux.refused() == RefusedCounts{.out_of_memory = 2});
  CHECK(mux.submit(ChannelId{1}, large));
  CHECK(positions_of(drain(mux)) == std::vector<std::uint64_t>{0});
}

TEST_CASE("a_stream_that_begins_or_ends_without_memory_is_told_to_every_subscriber_once") {
  const StreamId other{"another node whose name is long", {1}};
  std::size_t n = 0;
  bool failed = true;
  for (; failed; ++n) {
    CAPTURE(n);
    DeliveryFanout fanout;
    std::vector<std::vector<EventBatch>> kept(2);
    std::vector<DatastreamSubscription> pulled;
    for (auto& deliveries : kept) {
      pulled.push_back(fanout.subscribe("pulled"));
      fanout.attach("pushed", SubscriptionRequest::all(), {},
                    std::make_unique<KeepingSink>(deliveries));
    }
    // What throws is done again, as somebody does who wants it done.
    const auto insist = [](const auto& act) {
      try {
        act();
      } catch (const std::bad_alloc&) {
        act();
      }
    };
    const FrameBatch batch = batch_of(other, 5, 3);
    {
      const Shortage shortage(n);
      insist([&] { fanout.publish(batch); });
      insist([&] { fanout.end_stream(other, 8); });
      failed = Shortage::happened();
    }
    fanout.refresh();
    for (DatastreamSubscription& subscription : pulled)
      kept.push_back(subscription.drain_available());
    for (const auto& deliveries : kept) {
      std::vector<StreamStart> starts;
      for (const EventBatch& delivery : deliveries)
        starts.insert(starts.end(), delivery.starts.begin(), delivery.starts.end());
      REQUIRE(starts == std::vector<StreamStart>{{other, Position{5}}});
      REQUIRE(only<StreamDeclared>(events_of(deliveries)).size() == 1);
      REQUIRE(only<StreamEnded>(events_of(deliveries)).size() == 1);
    }
    for (const SubscriberLedger& subscriber : fanout.ledger().subscribers)
      REQUIRE(subscriber.counts.offered == 3);
    REQUIRE(fanout.ledger().balanced());
  }
  CHECK(n > 20);
}

#endif
