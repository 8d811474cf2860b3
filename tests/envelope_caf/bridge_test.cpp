/// Bridges between streams of actor systems and peers that speak the legacy envelope.

#include "sink_test.hpp"

#include <datastream/actors/consumer_actor.hpp>
#include <datastream/actors/endpoint.hpp>
#include <datastream/actors/fanout_actor.hpp>
#include <datastream/envelope_caf/bridge.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

/// Waits until a consumer has stored so many frames of a stream; answers its ledger.
IngestLedger stored(caf::actor_system& system, const caf::actor& consumer, const StreamId& stream,
                    std::uint64_t frames) {
  IngestLedger last;
  const bool there = eventually([&] {
    if (auto ledger = ask<IngestLedger>(system, consumer, ledger_atom_v, stream))
      last = *ledger;
    return last.stored >= frames;
  });
  CHECK(there);
  return last;
}

std::vector<std::string> payloads(caf::actor_system& system, const caf::actor& consumer,
                                  const StreamId& stream) {
  std::vector<std::string> result;
  const auto page = ask<FramePage>(system, consumer, page_atom_v, stream, Position{0}, 4096U);
  REQUIRE(page);
  for (const FrameView& frame : page->frames)
    result.emplace_back(frame.payload);
  return result;
}

Bridge bridge(caf::actor_system& system, BridgeOptions options) {
  auto opened = Bridge::open(system, std::move(options));
  if (!opened)
    FAIL(opened.error().message);
  return std::move(*opened);
}

void check_balanced(const Bridge& of) {
  const BridgeLedger ledger = of.ledger();
  CHECK(ledger.arrived.balanced());
  for (const LinkLedger& link : ledger.links) {
    CHECK((!link.sent || link.sent->balanced()));
    CHECK((!link.received || link.received->balanced()));
  }
}

/// A fanout with a bridge to others, as a node has it that takes part in passing on.
struct Hub {
  Hub(caf::actor_system& of, std::uint16_t send_to)
      : system(of), fanout(spawn_fanout(of)),
        to(bridge(of, {.from = EndpointRef(fanout),
                       .into = fanout,
                       .links = {{.send_to = TcpPeer{.host = "127.0.0.1", .port = send_to}},
                                 {.listen = TcpListen{}}}})) {
    reader = spawn_recorder(system, EndpointRef(fanout), seen);
    CHECK(eventually([&] { return seen->has_started(); }));
  }
  ~Hub() {
    stop(reader);
    stop(fanout);
  }
  std::uint16_t port() const { return to.port(1); }

  void publish(const FrameBatch& batch) {
    EventBatch delivery;
    delivery.frames = batch;
    REQUIRE(ask<EndpointTick>(system, fanout, publish_atom_v, delivery));
  }

  caf::actor_system& system;
  caf::actor fanout;
  Bridge to;
  SeenPtr seen = std::make_shared<Seen>();
  caf::actor reader;
};

/// A port that nobody listens on, yet.
std::uint16_t free_port() {
  const auto receiver = TcpReceiver::open({}, {.on_batch = [](const auto&, const auto&) {}});
  REQUIRE(receiver);
  return (*receiver)->port();
}

FrameBatch frames_of(const StreamId& stream, std::uint64_t first, std::uint64_t count) {
  std::vector<Frame> frames;
  for (std::uint64_t i = 0; i < count; ++i)
    frames.push_back({{1}, {first + i}, "frame " + std::to_string(first + i)});
  return FrameBatch::copy_of(stream, frames);
}

} // namespace

TEST_CASE("one_call_sends_an_endpoint_over_udp_and_one_call_stores_it") {
  EnvelopeSystem test;
  const auto consumer = spawn_consumer(test.system);
  Bridge in = bridge(test.system, {.into = consumer, .links = {{.listen = UdpListen{}}}});
  Endpoint node{test.system, {.node = "n"}};
  Bridge out = bridge(test.system,
                      {.from = node.ref(),
                       .links = {{.send_to = UdpPeer{.host = "127.0.0.1", .port = in.port(0)}}}});
  const auto producer = node.producer();
  const ChannelId channel = producer.register_channel("log", TextStream{});
  for (int i = 0; i < 100; ++i)
    REQUIRE(producer.submit_text(channel, "line " + std::to_string(i)));
  stored(test.system, consumer, node.stream_id(), 100);
  CHECK(payloads(test.system, consumer, node.stream_id())[99] == "line 99");
  check_balanced(in);
  check_balanced(out);
  CHECK(in.ledger().arrived.carried == 100);
  stop(consumer);
}

TEST_CASE("a_closed_bridge_has_sent_what_a_closed_endpoint_has_published") {
  EnvelopeSystem test;
  const auto consumer = spawn_consumer(test.system);
  Bridge in = bridge(test.system, {.into = consumer, .links = {{.listen = TcpListen{}}}});
  StreamId stream;
  {
    Endpoint node{test.system, {.node = "n"}};
    stream = node.stream_id();
    Bridge out = bridge(test.system,
                        {.from = node.ref(),
                         .links = {{.send_to = TcpPeer{.host = "127.0.0.1", .port = in.port(0)}}}});
    const auto producer = node.producer();
    for (int i = 0; i < 1000; ++i)
      REQUIRE(producer.submit_text({1}, "text"));
    REQUIRE(node.close());
    CHECK(out.close());
    CHECK(out.close());
    CHECK(out.port(0) == 0);
    CHECK(!out.actor());
    const LinkLedger link = out.ledger().links.at(0);
    CHECK(link.sent->sent == 1000);
    CHECK(link.sent->balanced());
  }
  CHECK(stored(test.system, consumer, stream, 1000).missing() == 0);
  stop(consumer);
}

TEST_CASE("an_emitter_ships_to_a_sink_as_requests_and_the_sink_s_answer_is_its_credit") {
  EnvelopeSystem test;
  const auto consumer = spawn_consumer(test.system);
  const auto sink = spawn_sink(test.system, {.into = consumer}).value();
  Endpoint node{test.system, {.node = "n"}};
  Bridge out =
      bridge(test.system, {.from = node.ref(), .links = {{.send_to = SinkPeer{.sink = sink}}}});
  const auto producer = node.producer();
  for (int i = 0; i < 3000; ++i)
    REQUIRE(producer.submit_text({1}, "text"));
  REQUIRE(node.close());
  REQUIRE(out.close(20s));
  CHECK(stored(test.system, consumer, node.stream_id(), 3000).missing() == 0);
  CHECK(out.ledger().links.at(0).sent->sent == 3000);
  CHECK(ledger_of(test.system, sink).delivered == 3000);
  stop(consumer);
}

TEST_CASE("a_frozen_sink_costs_bounded_memory_and_counted_drops") {
  EnvelopeSystem test;
  HeldTaker taker(test.system);
  const auto sink = spawn_sink(test.system, {.into = taker.actor()}).value();
  const auto fanout = spawn_fanout(test.system);
  Bridge out = bridge(test.system,
                      {.from = EndpointRef(fanout),
                       .links = {{.send_to = SinkPeer{.sink = sink, .queue = {.frames = 2000}}}}});
  const StreamId stream{"n", {1}};
  for (std::uint64_t i = 0; i < 100; ++i) {
    EventBatch delivery;
    delivery.frames = frames_of(stream, i * 100, 100);
    REQUIRE(ask<EndpointTick>(test.system, fanout, publish_atom_v, delivery));
  }
  REQUIRE(eventually([&] { return out.ledger().links.at(0).sent->offered == 10'000; }));
  const SenderLedger held = *out.ledger().links.at(0).sent;
  CHECK(held.queued == 2000);
  CHECK(held.lost.send_queue_full == 8000);
  CHECK(held.balanced());
  CHECK(!out.close(0ms));
  taker.release();
  stop(fanout);
}

TEST_CASE("a_sink_that_dies_loses_what_it_had_not_answered_and_everything_later_counted") {
  EnvelopeSystem test;
  HeldTaker taker(test.system);
  const auto sink = spawn_sink(test.system, {.into = taker.actor()}).value();
  auto sender = ActorSender::open(test.system, {.sink = sink}).value();
  constexpr std::size_t frames = 3 * defaults::batch_frames; // a third is on its way at a time
  CHECK(sender->send(frames_of({"n", {1}}, 0, frames)) == frames);
  REQUIRE(
      eventually([&] { return ledger_of(test.system, sink).messages == defaults::batch_frames; }));
  stop(sink);
  REQUIRE(sender->flush(20s));
  CHECK(sender->ledger().lost.connection_broken == frames);
  sender->send(frames_of({"n", {1}}, frames, 5));
  REQUIRE(sender->flush(20s));
  CHECK(sender->ledger().lost.connection_broken == frames + 5);
  CHECK(sender->ledger().balanced());
}

TEST_CASE("an_answer_that_comes_when_its_sink_was_given_up_is_in_no_count") {
  EnvelopeSystem test;
  // Answers in place of a sink, when it is told to.
  const auto desk = test.system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    using Promise = caf::typed_response_promise<caf::unit_t>;
    const auto held = std::make_shared<std::vector<Promise>>();
    return {
        [=](const DatastreamFrame&) {
          held->push_back(self->make_response_promise<caf::unit_t>());
          return held->back();
        },
        [=](streams_atom) { return static_cast<std::uint64_t>(held->size()); },
        [=](wake_atom) {
          for (Promise& promise : *held)
            promise.deliver(caf::unit);
          return true;
        },
    };
  });
  const auto sink = test.system.spawn([desk](caf::event_based_actor* self) -> caf::behavior {
    return {[=](const DatastreamFrame& frame) { return compat::delegate(self, desk, frame); }};
  });
  auto sender = ActorSender::open(test.system, {.sink = sink}).value();
  sender->send(frames_of({"n", {1}}, 0, 10));
  REQUIRE(eventually(
      [&] { return ask<std::uint64_t>(test.system, desk, streams_atom_v).value() == 10; }));
  stop(sink);
  REQUIRE(sender->flush(20s));
  REQUIRE(ask<bool>(test.system, desk, wake_atom_v).value());
  sender->send(frames_of({"n", {1}}, 10, 5));
  REQUIRE(sender->flush(20s)); // so the answers have come, too
  CHECK(sender->ledger().sent == 0);
  CHECK(sender->ledger().lost.connection_broken == 15);
  CHECK(sender->ledger().balanced());
  stop(desk);
}

TEST_CASE("who_is_no_sink_and_answers_with_an_error_is_a_peer_that_refuses") {
  EnvelopeSystem test;
  const auto consumer = spawn_consumer(test.system);
  auto sender = ActorSender::open(test.system, {.sink = consumer}).value();
  sender->send(frames_of({"n", {1}}, 0, 10));
  REQUIRE(sender->flush(20s));
  CHECK(sender->ledger().lost.peer_refused == 10);
  CHECK(sender->ledger().balanced());
  stop(consumer);
}

TEST_CASE("two_bridges_that_send_each_other_everything_do_not_loop") {
  EnvelopeSystem test;
  const std::uint16_t forward = free_port();
  Hub a(test.system, forward);
  // The second hub listens where the first one sends, and sends to it.
  const caf::actor fanout = spawn_fanout(test.system);
  const auto seen = std::make_shared<Seen>();
  const auto reader = spawn_recorder(test.system, EndpointRef(fanout), seen);
  REQUIRE(eventually([&] { return seen->has_started(); }));
  Bridge b =
      bridge(test.system, {.from = EndpointRef(fanout),
                           .into = fanout,
                           .links = {{.send_to = TcpPeer{.host = "127.0.0.1", .port = a.port()}},
                                     {.listen = TcpListen{.port = forward}}}});
  a.publish(frames_of({"a", {1}}, 0, 100));
  REQUIRE(eventually([&] { return seen->frames() == 100; }));
  // What comes back is refused, and goes no further.
  REQUIRE(eventually([&] { return a.to.ledger().arrived.admission.returned == 100; }));
  a.publish(frames_of({"a", {1}}, 100, 1)); // comes after all that loops
  REQUIRE(eventually([&] { return a.to.ledger().arrived.admission.returned == 101; }));
  CHECK(a.seen->frames() == 101);
  CHECK(seen->frames() == 101);
  CHECK(b.ledger().arrived.admission.arrived == 101);
  check_balanced(a.to);
  check_balanced(b);
  stop(reader);
  stop(fanout);
}

TEST_CASE("a_ring_of_three_bridges_passes_every_frame_around_once") {
  EnvelopeSystem test;
  const std::uint16_t port_of_c = free_port();
  Hub a(test.system, port_of_c); // a sends to c, c to b, b to a
  Hub b(test.system, a.port());
  const caf::actor fanout = spawn_fanout(test.system);
  const auto seen = std::make_shared<Seen>();
  const auto reader = spawn_recorder(test.system, EndpointRef(fanout), seen);
  REQUIRE(eventually([&] { return seen->has_started(); }));
  Bridge c =
      bridge(test.system, {.from = EndpointRef(fanout),
                           .into = fanout,
                           .links = {{.send_to = TcpPeer{.host = "127.0.0.1", .port = b.port()}},
                                     {.listen = TcpListen{.port = port_of_c}}}});
  // A peer that is no bridge enters at b: its stream belongs to no hub.
  auto peer = TcpSender::open({.host = "127.0.0.1", .port = b.port()}).value();
  peer->send(frames_of({"peer", {1}}, 0, 50));
  a.publish(frames_of({"a", {1}}, 0, 50));
  const auto all = [&] {
    return a.seen->frames() == 100 && b.seen->frames() == 100 && seen->frames() == 100;
  };
  REQUIRE(eventually(all));
  // The ring is closed where a stream began: a's own at a, the peer's at b.
  REQUIRE(eventually([&] {
    return a.to.ledger().arrived.admission.returned == 50 &&
           b.to.ledger().arrived.admission.duplicates == 50;
  }));
  CHECK(all());
  CHECK(b.to.ledger().arrived.admission.contested == 50);
  stop(reader);
  stop(fanout);
}

TEST_CASE("what_comes_over_a_link_is_not_sent_back_over_it") {
  EnvelopeSystem test;
  const auto fanout = spawn_fanout(test.system);
  std::atomic<std::uint64_t> back{0};
  auto peer_in = UdpReceiver::open(
      {}, {.on_batch = [&](const std::string&, const FrameBatch& batch) { back += batch.size(); },
           .on_left = {}});
  REQUIRE(peer_in);
  Bridge hub = bridge(
      test.system, {.from = EndpointRef(fanout),
                    .into = fanout,
                    .links = {{.send_to = UdpPeer{.host = "127.0.0.1", .port = (*peer_in)->port()},
                               .listen = UdpListen{}}}});
  auto peer_out = UdpSender::open({.host = "127.0.0.1", .port = hub.port(0)}).value();
  peer_out->send(frames_of({"peer", {1}}, 0, 20));
  REQUIRE(eventually([&] { return hub.ledger().arrived.delivered == 20; }));
  // A frame that the hub does send, behind those that it does not.
  EventBatch own;
  own.frames = frames_of({"own", {1}}, 0, 1);
  REQUIRE(ask<EndpointTick>(test.system, fanout, publish_atom_v, own));
  REQUIRE(eventually([&] { return back > 0; }));
  CHECK(back == 1);
  stop(fanout);
}

TEST_CASE("a_slow_consumer_slows_a_peer_on_tcp_and_nothing_is_lost") {
  EnvelopeSystem test;
  HeldTaker taker(test.system);
  Bridge in = bridge(test.system, {.into = taker.actor(), .links = {{.listen = TcpListen{}}}});
  auto peer =
      TcpSender::open({.host = "127.0.0.1", .port = in.port(0), .queue = {.bytes = 1U << 20U}})
          .value();
  std::uint64_t sent = 0;
  const std::string payload(100'000, 'x');
  // More than a bridge holds, and what lies in the kernel.
  for (std::uint64_t i = 0; i < 1200; ++i) {
    const Frame frame[] = {{{1}, {i}, payload}};
    const FrameBatch batch = FrameBatch::copy_of({"peer", {1}}, frame);
    if (!eventually([&] { return peer->send(batch) == 1; }, 200ms))
      break;
    ++sent;
  }
  CHECK(sent < 1200);
  taker.release();
  REQUIRE(eventually([&] { return taker.frames() == sent; }));
  check_balanced(in);
}

TEST_CASE("messages_and_what_comes_over_links_do_not_hold_up_each_other") {
  EnvelopeSystem test;
  HeldTaker taker(test.system);
  Bridge in = bridge(test.system, {.into = taker.actor(), .links = {{.listen = TcpListen{}}}});
  const auto send_message = [&](std::uint64_t position) {
    compat::anon_send(in.actor(), DatastreamFrame{envelope({"a", {1}}, position, "x")});
  };
  auto peer = TcpSender::open({.host = "127.0.0.1", .port = in.port(0)}).value();
  send_message(0);
  REQUIRE(eventually([&] { return taker.frames() == 1; }));
  // Both wait for the answer to that one.
  send_message(1);
  peer->send(frames_of({"peer", {1}}, 0, 10));
  REQUIRE(eventually([&] {
    const BridgeLedger ledger = in.ledger();
    return ledger.waiting == 10 && ledger.arrived.waiting == 1;
  }));
  taker.answer_held(); // and nothing that comes after it
  CHECK(eventually([&] { return taker.frames() == 12; }));
  check_balanced(in);
}

TEST_CASE("a_bridge_forgets_a_stream_that_is_over") {
  EnvelopeSystem test;
  const auto fanout = spawn_fanout(test.system);
  const auto consumer = spawn_consumer(test.system);
  Bridge hub = bridge(test.system,
                      {.from = EndpointRef(fanout),
                       .into = consumer,
                       .links = {{.send_to = UdpPeer{"127.0.0.1", 9}}, {.listen = TcpListen{}}}});
  EventBatch own;
  own.frames = frames_of({"own", {1}}, 0, 5);
  REQUIRE(ask<EndpointTick>(test.system, fanout, publish_atom_v, own));
  REQUIRE(eventually([&] { return hub.ledger().links.at(0).sent->offered == 5; }));
  auto peer = TcpSender::open({.host = "127.0.0.1", .port = hub.port(1)}).value();
  peer->send(frames_of({"own", {1}}, 0, 5));
  REQUIRE(eventually([&] { return hub.ledger().arrived.admission.returned == 5; }));
  CHECK(hub.forget({"own", {1}}));
  CHECK_FALSE(hub.forget({"own", {1}}));
  peer->send(frames_of({"own", {1}}, 0, 5)); // nothing is known of it any more
  CHECK(eventually([&] { return hub.ledger().arrived.admission.admitted == 5; }));
  hub.close();
  CHECK_FALSE(hub.forget({"own", {1}}));
  stop(fanout);
  stop(consumer);
}

TEST_CASE("a_closed_bridge_goes_on_saying_that_not_all_had_left") {
  EnvelopeSystem test;
  const auto fanout = spawn_fanout(test.system);
  Bridge out = bridge(test.system,
                      {.from = EndpointRef(fanout),
                       .links = {{.send_to = TcpPeer{.host = "127.0.0.1", .port = free_port()}}}});
  EventBatch own;
  own.frames = frames_of({"own", {1}}, 0, 5);
  REQUIRE(ask<EndpointTick>(test.system, fanout, publish_atom_v, own));
  REQUIRE(eventually([&] { return out.ledger().links.at(0).sent->offered == 5; }));
  CHECK_FALSE(out.close(0ms));
  CHECK_FALSE(out.close());
  stop(fanout);
}

TEST_CASE("a_bridge_may_be_closed_with_the_longest_deadline_that_there_is") {
  EnvelopeSystem test;
  const auto consumer = spawn_consumer(test.system);
  Bridge in = bridge(test.system, {.into = consumer, .links = {{.listen = TcpListen{}}}});
  const auto fanout = spawn_fanout(test.system);
  Bridge out = bridge(test.system,
                      {.from = EndpointRef(fanout),
                       .links = {{.send_to = TcpPeer{.host = "127.0.0.1", .port = in.port(0)}}}});
  EventBatch delivery;
  delivery.frames = frames_of({"n", {1}}, 0, 1000);
  REQUIRE(ask<EndpointTick>(test.system, fanout, publish_atom_v, delivery));
  REQUIRE(eventually([&] { return out.ledger().links.at(0).sent->offered == 1000; }));
  CHECK(out.close(std::chrono::milliseconds::max()));
  CHECK(out.ledger().links.at(0).sent->sent == 1000);
  stop(fanout);
  stop(consumer);
}

TEST_CASE("what_a_bridge_had_not_looked_at_when_it_was_closed_is_counted") {
  EnvelopeSystem test;
  HeldTaker taker(test.system);
  Bridge in = bridge(test.system, {.into = taker.actor(), .links = {{.listen = TcpListen{}}}});
  auto peer = TcpSender::open({.host = "127.0.0.1", .port = in.port(0)}).value();
  peer->send(frames_of({"peer", {1}}, 0, 10));
  REQUIRE(eventually([&] { return in.ledger().arrived.in_transit == 10; }));
  peer->send(frames_of({"peer", {1}}, 10, 90)); // waits: nobody has answered for the first ones
  REQUIRE(eventually([&] { return in.ledger().links.at(0).received->handed_on == 100; }));
  CHECK(in.ledger().waiting == 90);
  CHECK(in.ledger().discarded == 0);
  in.close();
  const BridgeLedger ledger = in.ledger();
  CHECK(ledger.arrived.carried == 10);
  CHECK(ledger.waiting == 0);
  CHECK(ledger.discarded == 90);
  CHECK(ledger.arrived.balanced());
}

TEST_CASE("a_bridge_may_be_closed_while_its_receiver_waits_for_a_consumer_that_hangs") {
  EnvelopeSystem test;
  HeldTaker taker(test.system);
  Bridge in = bridge(test.system, {.into = taker.actor(), .links = {{.listen = TcpListen{}}}});
  auto peer = TcpSender::open({.host = "127.0.0.1", .port = in.port(0)}).value();
  // More than a bridge holds: 64 MiB in batches of 1 MiB, so the receiver is held up.
  const std::string payload(1U << 20U, 'x');
  for (std::uint64_t i = 0; i < 100; ++i) {
    const Frame frame[] = {{{1}, {i}, payload}};
    const FrameBatch batch = FrameBatch::copy_of({"peer", {1}}, frame);
    if (!eventually([&] { return peer->send(batch) == 1; }, 2s))
      break;
  }
  REQUIRE(eventually([&] { return in.ledger().links.at(0).received->held > 0; }));
  in.close();
  const BridgeLedger ledger = in.ledger();
  const ReceiverLedger& received = *ledger.links.at(0).received;
  CHECK(received.balanced());
  CHECK(ledger.discarded > 0);
  // What the receiver was just handing on may be in its `held` still.
  const std::uint64_t known = ledger.arrived.carried + ledger.discarded;
  CHECK(known >= received.handed_on);
  CHECK(known <= received.handed_on + received.held);
}

TEST_CASE("whoever_asks_while_a_bridge_s_actor_ends_is_told_all_that_it_had_counted") {
  for (int round = 0; round < 20; ++round) {
    EnvelopeSystem test;
    HeldTaker taker(test.system);
    Bridge in = bridge(test.system, {.into = taker.actor()});
    const caf::actor actor = in.actor();
    compat::anon_send(actor, DatastreamFrame{envelope({"a", {1}}, 0, "x")});
    REQUIRE(eventually([&] { return taker.frames() == 1; }));
    caf::anon_send_exit(actor, caf::exit_reason::kill);
    const SinkLedger last = in.ledger().arrived;
    CHECK(last.messages == 1);
    CHECK(last.balanced());
  }
}

TEST_CASE("what_a_bridge_has_counted_outlives_its_consumer") {
  EnvelopeSystem test;
  const auto consumer = spawn_consumer(test.system);
  Bridge in = bridge(test.system, {.into = consumer, .links = {{.listen = TcpListen{}}}});
  auto peer = TcpSender::open({.host = "127.0.0.1", .port = in.port(0)}).value();
  peer->send(frames_of({"peer", {1}}, 0, 10));
  REQUIRE(eventually([&] { return in.ledger().arrived.delivered == 10; }));
  stop(consumer);
  {
    Courier courier(test.system, in.actor());
    REQUIRE(eventually([&] { return !courier.deliver("whatever"); })); // the bridge's actor is gone
  }
  peer->send(frames_of({"peer", {1}}, 10, 5));
  REQUIRE(eventually([&] {
    const BridgeLedger ledger = in.ledger();
    return ledger.links.at(0).received->handler_failed + ledger.discarded == 5;
  }));
  CHECK(in.ledger().arrived.delivered == 10);
  CHECK(in.ledger().arrived.balanced());
}

TEST_CASE("a_bridge_that_could_not_work_is_refused_with_the_reason") {
  EnvelopeSystem test;
  const auto consumer = spawn_consumer(test.system);
  const auto refused = [&](BridgeOptions options, CarrierError::Kind kind) {
    const auto opened = Bridge::open(test.system, std::move(options));
    REQUIRE(!opened);
    CHECK(opened.error().kind == kind);
    return opened.error().message;
  };
  using Kind = CarrierError::Kind;
  CHECK(refused({.into = consumer, .links = {{}}}, Kind::bad_option) ==
        "link 0 of a bridge: neither sends nor listens");
  CHECK(refused({.links = {{.listen = UdpListen{}}}}, Kind::bad_option) ==
        "link 0 of a bridge: nobody to feed, for there is no `into`");
  CHECK(refused({.links = {{.send_to = UdpPeer{"127.0.0.1", 9}}}}, Kind::bad_option) ==
        "link 0 of a bridge: nothing to send, for there is no `from`");
  refused({.into = consumer, .links = {{.listen = UdpListen{.address = "0.0.0.0"}}}},
          Kind::not_loopback);
  const EndpointRef closed = Endpoint(test.system, {.node = "n"}).ref();
  refused({.from = closed, .links = {{.send_to = UdpPeer{"127.0.0.1", 9}}}}, Kind::bad_option);
  Bridge first = bridge(test.system, {.into = consumer, .links = {{.listen = TcpListen{}}}});
  refused({.into = consumer, .links = {{.listen = TcpListen{.port = first.port(0)}}}},
          Kind::cannot_bind);
  stop(consumer);
}

TEST_CASE("a_bridge_takes_envelopes_as_messages_too") {
  EnvelopeSystem test;
  const auto consumer = spawn_consumer(test.system);
  Bridge in = bridge(test.system, {.into = consumer});
  {
    Courier courier(test.system, in.actor());
    REQUIRE(courier.deliver(envelope({"n", {1}}, 0, "x")));
  }
  stored(test.system, consumer, {"n", {1}}, 1);
  CHECK(in.ledger().arrived.messages == 1);
  check_balanced(in);
  stop(consumer);
}
