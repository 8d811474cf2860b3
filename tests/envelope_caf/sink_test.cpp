/// Envelopes that come to a sink as messages.

#include "sink_test.hpp"

#include <datastream/actors/consumer_actor.hpp>
#include <datastream/actors/fanout_actor.hpp>
#include <datastream/actors/registry.hpp>

#include <optional>
#include <string>
#include <vector>

using namespace datastream;
using namespace datastream::test;

namespace {

const StreamId stream{"node-a", {7}};

std::uint64_t stored_frames(caf::actor_system& system, const caf::actor& consumer) {
  const auto ledger = ask<IngestLedger>(system, consumer, ledger_atom_v, stream);
  return ledger ? ledger->stored : 0;
}

/// A consumer and a sink that feeds it.
struct FedConsumer : EnvelopeSystem {
  explicit FedConsumer(SinkOptions options = {}) {
    options.into = consumer;
    sink = spawn_sink(system, std::move(options)).value();
  }
  ~FedConsumer() { stop(consumer); }

  caf::actor consumer = spawn_consumer(system);
  caf::actor sink;
};

} // namespace

TEST_CASE("a_sink_answers_an_envelope_when_the_consumer_has_its_frame") {
  FedConsumer test;
  Courier courier(test.system, test.sink);
  for (std::uint64_t position = 0; position < 5; ++position) {
    REQUIRE(courier.deliver(envelope(stream, position, "payload")));
    CHECK(stored_frames(test.system, test.consumer) == position + 1);
  }
  const auto page =
      ask<FramePage>(test.system, test.consumer, page_atom_v, stream, Position{0}, 10U);
  REQUIRE(page);
  CHECK(page->frames.back().payload == "payload");
  const SinkLedger ledger = ledger_of(test.system, test.sink);
  CHECK(ledger.messages == 5);
  CHECK(ledger.delivered == 5);
}

TEST_CASE("a_sink_feeds_a_fanout_whose_readers_see_the_frames") {
  EnvelopeSystem test;
  const auto fanout = spawn_fanout(test.system);
  const auto seen = std::make_shared<Seen>(true);
  const auto reader = spawn_recorder(test.system, EndpointRef(fanout), seen);
  REQUIRE(eventually([&] { return seen->has_started(); }));
  const auto sink = spawn_sink(test.system, {.into = fanout}).value();
  {
    Courier courier(test.system, sink);
    REQUIRE(courier.deliver(envelope(stream, 3, "three")));
    REQUIRE(courier.deliver(envelope(stream, 4, "four")));
  }
  REQUIRE(eventually([&] { return seen->frames() == 2; }));
  CHECK(seen->now().log == std::vector<std::string>{"start", "frame  three", "frame  four"});
  stop(reader);
  stop(fanout);
}

TEST_CASE("malformed_envelopes_are_answered_dropped_and_counted_by_kind") {
  FedConsumer test;
  const std::string good = envelope(stream, 0, "good");
  std::string not_text = good;
  not_text[4] = '\xff';
  Courier courier(test.system, test.sink);
  for (const std::string& bytes :
       {good.substr(0, 10), std::string(), not_text, good + "x", good + good, good + "y", good})
    REQUIRE(courier.deliver(bytes));
  const SinkLedger ledger = ledger_of(test.system, test.sink);
  CHECK(ledger.malformed == MalformedCounts{.truncated = 2, .not_utf8 = 1, .trailing_bytes = 3});
  CHECK(ledger.messages == 7);
  CHECK(ledger.delivered == 1);
}

TEST_CASE("a_sink_that_waits_for_its_consumer_keeps_a_bounded_number_of_bytes") {
  EnvelopeSystem test;
  HeldTaker taker(test.system);
  const std::string payload(1000, 'x');
  const std::size_t size = envelope(stream, 0, payload).size() + 256; // what it takes besides
  const auto sink =
      spawn_sink(test.system, {.into = taker.actor(), .waiting_bytes = 10 * size}).value();
  // Nobody waits for answers: the first one goes to the taker, ten wait, the others are dropped.
  for (std::uint64_t position = 0; position < 100; ++position)
    compat::anon_send(sink, DatastreamFrame{envelope(stream, position, payload)});
  const SinkLedger held = ledger_of(test.system, sink);
  CHECK(held.in_transit == 1);
  CHECK(held.waiting == 10);
  CHECK(held.sink_full == 89);
  taker.release();
  REQUIRE(eventually([&] { return ledger_of(test.system, sink).delivered == 11; }));
  CHECK(taker.frames() == 11);
}

TEST_CASE("envelopes_without_payloads_fill_the_memory_of_a_sink_as_well") {
  EnvelopeSystem test;
  HeldTaker taker(test.system);
  const auto sink =
      spawn_sink(test.system, {.into = taker.actor(), .waiting_bytes = 100'000}).value();
  for (std::uint64_t position = 0; position < 1000; ++position)
    compat::anon_send(sink, DatastreamFrame{envelope(stream, position, "")});
  const SinkLedger held = ledger_of(test.system, sink);
  CHECK(held.waiting > 100);
  CHECK(held.waiting < 400);
  CHECK(held.sink_full == 999 - held.waiting);
}

TEST_CASE("envelopes_that_come_while_a_consumer_is_busy_reach_it_in_one_batch") {
  EnvelopeSystem test;
  HeldTaker taker(test.system);
  const auto sink = spawn_sink(test.system, {.into = taker.actor()}).value();
  for (std::uint64_t position = 0; position < 1000; ++position)
    compat::anon_send(sink, DatastreamFrame{envelope(stream, position, "x")});
  REQUIRE(eventually([&] { return ledger_of(test.system, sink).waiting == 999; }));
  taker.release();
  REQUIRE(eventually([&] { return taker.frames() == 1000; }));
  CHECK(taker.batches() == 2);
}

TEST_CASE("a_second_actor_that_sends_a_stream_is_noticed_and_by_option_refused") {
  for (const bool refuse : {false, true}) {
    FedConsumer test({.admission = {.refuse_contested = refuse}});
    std::optional<Courier> first(std::in_place, test.system, test.sink);
    Courier second(test.system, test.sink);
    REQUIRE(first->deliver(envelope(stream, 0, "first")));
    REQUIRE(second.deliver(envelope(stream, 1, "second")));
    const SinkLedger ledger = ledger_of(test.system, test.sink);
    CHECK(ledger.admission.contested == 1);
    CHECK(ledger.admission.refused_contested == (refuse ? 1 : 0));
    CHECK(stored_frames(test.system, test.consumer) == (refuse ? 1 : 2));
    // When the first one is gone, nobody else has the stream.
    first.reset();
    std::uint64_t position = 2;
    CHECK(eventually([&] {
      const auto before = ledger_of(test.system, test.sink).admission.contested;
      REQUIRE(second.deliver(envelope(stream, position++, "second")));
      return ledger_of(test.system, test.sink).admission.contested == before;
    }));
  }
}

TEST_CASE("a_catalog_that_is_given_to_a_sink_names_the_channels_of_frames_that_come") {
  const DatastreamSnapshot catalog{{{stream, {}, StreamOrigin::RemoteNode}},
                                   {{stream, {1}, "worker.log", {}, TextStream{}}}};
  FedConsumer test({.catalog = catalog});
  Courier courier(test.system, test.sink);
  REQUIRE(courier.deliver(envelope(stream, 0, "text")));
  const auto known = ask<DatastreamSnapshot>(test.system, test.consumer, snapshot_atom_v,
                                             SubscriptionRequest::all());
  REQUIRE(known);
  CHECK(*known == catalog);
}

TEST_CASE("frames_of_a_sink_get_their_names_from_a_subscription_to_their_endpoint") {
  FedConsumer test;
  Endpoint node{test.system, {.node = "node-b"}};
  Courier courier(test.system, test.sink);
  REQUIRE(courier.deliver(envelope(node.stream_id(), 0, "text")));
  const auto names = [&] {
    const auto known = ask<DatastreamSnapshot>(test.system, test.consumer, snapshot_atom_v,
                                               SubscriptionRequest::all());
    REQUIRE(known);
    return known->channels.size();
  };
  CHECK(names() == 0);
  node.producer().register_channel("worker.log", TextStream{});
  REQUIRE(ask<SubscriptionStart>(test.system, test.consumer, follow_atom_v, node.ref().actor()));
  CHECK(eventually([&] { return names() == 1; }));
}

TEST_CASE("a_sink_ends_with_its_consumer") {
  FedConsumer test;
  Courier courier(test.system, test.sink);
  REQUIRE(courier.deliver(envelope(stream, 0, "x")));
  stop(test.consumer);
  CHECK(eventually([&] { return !courier.deliver(envelope(stream, 1, "x")); }));
}

TEST_CASE("nobody_but_its_consumer_ends_a_sink") {
  FedConsumer test;
  const caf::error reason = caf::exit_reason::remote_link_unreachable;
  for (const std::uint64_t ticket : {std::uint64_t{0}, UINT64_MAX})
    compat::anon_send(test.sink, taker_down_atom_v, ticket, reason);
  Courier courier(test.system, test.sink);
  CHECK(courier.deliver(envelope(stream, 0, "payload")));
  CHECK(stored_frames(test.system, test.consumer) == 1);
}

TEST_CASE("a_sink_that_has_nobody_to_feed_is_not_spawned") {
  EnvelopeSystem test;
  const auto sink = spawn_sink(test.system, {});
  REQUIRE(!sink);
  CHECK(sink.error() == ActorError::no_actor);
}

TEST_CASE("a_registered_sink_is_found") {
  FedConsumer test;
  register_actor(test.system, sink_name, test.sink);
  CHECK(find_actor(test.system, sink_name) == test.sink);
  CHECK(!find_actor(test.system, publisher_name));
  unregister_actor(test.system, sink_name);
  CHECK(!find_actor(test.system, sink_name));
}
