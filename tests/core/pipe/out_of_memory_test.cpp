/// The pipe when any one allocation fails: what is lost is counted, and nothing comes twice.

#include <under_tsan.hpp>

#if !DATASTREAM_UNDER_TSAN

#include "pipe_support.hpp"

#include <datastream/model/health.hpp>
#include <datastream/record.hpp>

#include <shortage.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <thread>

using namespace datastream;
using namespace pipe_test;
using datastream::test::Drought;
using datastream::test::Shortage;

namespace {

struct Note {
  static constexpr auto CHANNEL = "note";
  std::string text;
};
DATASTREAM_RECORD(Note, text)

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

  bool submit(const std::string& bytes) {
    const bool taken = out.submit_bytes(ChannelId{1}, bytes);
    accepted += taken ? 1 : 0;
    return taken;
  }

  /// Everything that was accepted has come or is counted; nothing came twice. Returns the ends that
  /// each was told.
  std::size_t check(std::uint64_t taken_directly = 0) {
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
    const std::size_t ends = only<StreamEnded>(events_of(got)).size();
    REQUIRE(only<StreamEnded>(events_of(kept)).size() == ends);
    return ends;
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

TEST_CASE("a_waker_that_finds_no_memory_is_called_by_the_next_submission") {
  Mux mux(stream_id);
  REQUIRE(mux.submit(ChannelId{1}, "so that memory for payloads is there"));
  drain(mux);
  std::vector<std::string> messages;
  mux.set_waker([&] { messages.emplace_back("longer than what a string holds without memory"); });
  REQUIRE(mux.try_idle());
  {
    const Shortage shortage(0);
    CHECK(mux.submit(ChannelId{1}, "accepted"));
  }
  CHECK(Shortage::happened());
  CHECK(messages.empty());
  CHECK(mux.submit(ChannelId{1}, "calls"));
  CHECK(messages.size() == 1);
  CHECK(positions_of(drain(mux)) == std::vector<std::uint64_t>{1, 2});
}

TEST_CASE("a_record_that_finds_no_memory_is_refused_and_counted") {
  const Note note{std::string(10'000, 'x')};
  std::size_t n = 0;
  bool failed = true;
  for (; failed; ++n) {
    CAPTURE(n);
    DatastreamEndpoint endpoint(stream_id);
    const auto out = endpoint.producer();
    const ChannelId channel = out.register_record<Note>();
    out.submit_bytes(channel, "so that memory for payloads is there");
    bool taken = false;
    std::jthread([&] { // has encoded nothing before
      const Shortage shortage(n);
      taken = out.submit_record(channel, note);
      failed = Shortage::happened();
    })
        .join();
    REQUIRE(taken == !failed);
    REQUIRE(endpoint.ledger().refused == RefusedCounts{.out_of_memory = failed ? 1U : 0U});
    REQUIRE(out.submit_record(channel, note));
  }
  CHECK(n > 1);
}

TEST_CASE("records_use_the_memory_of_earlier_ones_and_a_large_one_leaves_none_behind") {
  DatastreamEndpoint endpoint(stream_id);
  const auto out = endpoint.producer();
  const ChannelId channel = out.register_record<Note>();
  const auto allocates = [&](const Note& note) {
    const Shortage shortage(0);
    return !out.submit_record(channel, note);
  };
  const Note usual{std::string(10'000, 'x')};
  REQUIRE(out.submit_record(channel, usual));
  CHECK(!allocates(usual));
  REQUIRE(out.submit_record(channel, Note{std::string(1U << 20U, 'x')}));
  CHECK(allocates(usual));
}

TEST_CASE("a_thread_that_ends_can_submit_a_last_record") {
  struct LastWords {
    DatastreamProducer out;
    ChannelId channel;
    ~LastWords() { out.submit_record(channel, Note{std::string(1000, 'z')}); }
  };
  DatastreamEndpoint endpoint(stream_id);
  const ChannelId channel = endpoint.register_record<Note>();
  std::jthread([&] {
    // Lives longer than what encoding uses, for it is there before.
    thread_local LastWords last{endpoint.producer(), channel};
    last.out.submit_record(channel, Note{std::string(1000, 'a')});
  }).join();
  std::vector<FrameBatch> batches;
  CHECK(endpoint.drain_directly(batches) == 2);
  CHECK(payloads_of(batches) ==
        std::vector<std::string>{encode_record(Note{std::string(1000, 'a')}),
                                 encode_record(Note{std::string(1000, 'z')})});
}

TEST_CASE("a_health_record_that_finds_no_memory_is_refused_and_counted") {
  DatastreamEndpoint endpoint(stream_id);
  std::size_t n = 0;
  std::uint64_t refused = 0;
  bool failed = true;
  for (; failed; ++n) {
    CAPTURE(n);
    bool taken = false;
    {
      const Shortage shortage(n);
      taken = endpoint.submit_health();
      failed = Shortage::happened();
    }
    refused += taken ? 0 : 1;
    REQUIRE((taken || failed));
    REQUIRE(endpoint.ledger().refused == RefusedCounts{.out_of_memory = refused});
  }
  CHECK(n > 5);
}

TEST_CASE("a_tick_that_finds_no_memory_for_a_health_record_goes_without_it") {
  DatastreamEndpoint endpoint(stream_id, {.health_interval = std::chrono::milliseconds(1)});
  const auto tick_fails = [&] {
    const Shortage shortage(0);
    endpoint.tick(); // nothing is queued: it allocates for the record only
    return Shortage::happened();
  };
  REQUIRE(eventually(tick_fails));
  CHECK(endpoint.ledger().refused == RefusedCounts{.out_of_memory = 1});
  CHECK(eventually([&] { return endpoint.tick().drained > 0; }));
}

TEST_CASE("a_stream_that_ends_short_of_memory_ends_all_the_same") {
  std::size_t n = 0;
  do {
    CAPTURE(n);
    Busy busy;
    {
      const Shortage shortage(n++);
      busy.endpoint.end_stream();
    }
    REQUIRE(busy.endpoint.ended());
    REQUIRE(busy.check() == 1);
  } while (Shortage::happened());
  CHECK(n > 10);
}

TEST_CASE("a_stream_that_ends_without_memory_waits_for_it_and_keeps_nobody_waiting") {
  Busy busy;
  std::atomic<bool> dry = true;
  std::jthread ending([&] {
    const Drought drought(dry);
    busy.endpoint.end_stream();
  });
  CHECK(eventually([&] { return !busy.submit("perhaps in time"); }));
  for (int i = 0; i < 50; ++i) { // while it tries
    const PipeLedger ledger = busy.endpoint.ledger();
    CHECK(ledger.in_mux == busy.accepted);
    CHECK(!ledger.ended);
  }
  dry = false;
  ending.join();
  CHECK(busy.endpoint.ended());
  CHECK(busy.check() == 1);
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

TEST_CASE("a_sink_that_joins_in_vain_for_want_of_memory_goes_when_no_lock_is_held") {
  class AskingSink final : public SubscriberSink {
  public:
    explicit AskingSink(DeliveryFanout& fanout) : fanout_(fanout) {}
    ~AskingSink() override { fanout_.subscriber_count(); } // takes the lock
    void deliver(EventBatch) override {}

  private:
    DeliveryFanout& fanout_;
  };
  std::size_t n = 0;
  for (bool failed = true; failed; ++n) {
    CAPTURE(n);
    DeliveryFanout fanout;
    fanout.publish(batch_of(stream_id, 0, 1));
    fanout.end_stream({"ended", {1}}, 5);
    auto prepared = fanout.prepare("asks", SubscriptionRequest::all(), {});
    auto sink = std::make_unique<AskingSink>(fanout);
    try {
      const Shortage shortage(n);
      fanout.unsubscribe(fanout.attach(std::move(prepared), std::move(sink)).id);
    } catch (const std::bad_alloc&) {
      CHECK(fanout.subscriber_count() == 0);
    }
    failed = Shortage::happened();
    CHECK(fanout.ledger().balanced());
  }
  CHECK(n > 4);
}

#endif
