#include "middleman_test.hpp"

#include <datastream/actors/consumer_actor.hpp>
#include <datastream/actors/fanout_actor.hpp>
#include <datastream/actors/remote.hpp>
#include <datastream/actors/thread_subscription.hpp>
#include <datastream/caf/send.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

const StreamId one{NodeId{"one"}, Lifetime{1}};
const StreamId two{NodeId{"two"}, Lifetime{1}};

EventBatch frames_of(const StreamId& stream, std::uint64_t first, std::size_t count) {
  std::vector<Frame> frames;
  for (std::size_t i = 0; i < count; ++i)
    frames.push_back({ChannelId{1}, Position{first + i}, "payload " + std::to_string(first + i)});
  EventBatch batch;
  batch.frames = FrameBatch::copy_of(stream, frames);
  return batch;
}

Declaration channel(const StreamId& stream, std::uint32_t id, std::string name) {
  return std::make_shared<const ChannelDescriptor>(
      ChannelDescriptor{stream, ChannelId{id}, std::move(name), std::nullopt, TextStream{}});
}

/// A fanout actor that is stopped in the end.
struct Fanout {
  explicit Fanout(caf::actor_system& its_system)
      : system(its_system), actor(spawn_fanout(system)) {}
  ~Fanout() { stop(actor); }
  EndpointTick publish(const EventBatch& batch) {
    return ask<EndpointTick>(system, actor, publish_atom_v, batch).value();
  }
  EndpointTick publish(const SubscriptionStart& start) {
    return ask<EndpointTick>(system, actor, publish_atom_v, start).value();
  }
  PublicationLedger ledger() {
    return ask<PublicationLedger>(system, actor, ledger_atom_v).value();
  }
  caf::actor_system& system;
  caf::actor actor;
};

/// An actor that passes the streams of an endpoint on.
caf::behavior collector(caf::event_based_actor* self, const EndpointRef& node,
                        const caf::actor& fanout, const SeenPtr& seen, const Subscribe& request) {
  Subscriber in{self};
  in.subscribe(node, republish(self, fanout, recording(seen)), request);
  return in.handlers();
}

/// What a collector was told of the end of its fanout.
struct Told {
  std::atomic<int> times = 0;
  std::atomic<bool> has_reason = false;
};

enum class AfterDown { stay, leave };

caf::behavior collector_that_is_told(caf::event_based_actor* self, const EndpointRef& node,
                                     const caf::actor& fanout, const SeenPtr& seen,
                                     const std::shared_ptr<Told>& told, AfterDown after) {
  Subscriber in{self};
  const auto number = std::make_shared<std::uint64_t>();
  const auto on_fanout_down = [=](const caf::error& reason) mutable {
    told->has_reason = static_cast<bool>(reason);
    ++told->times;
    if (after == AfterDown::leave)
      in.unsubscribe(*number);
  };
  *number = in.subscribe(node, republish(self, fanout, recording(seen), on_fanout_down));
  return in.handlers();
}

} // namespace

TEST_CASE("a_fanout_actor_publishes_batches_of_many_streams_and_declares_each_before_its_frames") {
  TestSystem test;
  Fanout fanout(test.system);
  CHECK(fanout.publish(frames_of(two, 0, 2)) == EndpointTick{.drained = 2}); // to nobody
  const auto seen = std::make_shared<Seen>(true);
  const auto reader = spawn_recorder(test.system, EndpointRef(fanout.actor), seen);
  REQUIRE(eventually([&] { return seen->has_started(); }));
  CHECK(seen->now().start->starts == std::vector<StreamStart>{{two, Position{2}}});

  EventBatch first = frames_of(one, 7, 3);
  first.declarations.push_back(channel(one, 1, "log"));
  CHECK(fanout.publish(first) == EndpointTick{.drained = 3, .delivered = 3, .subscribers = 1});
  EventBatch last = frames_of(one, 10, 1);
  last.ended = StreamEnd{one, 11};
  fanout.publish(last);
  REQUIRE(eventually([&] { return seen->has_ended(); }));
  CHECK(seen->now().log == std::vector<std::string>{"start", "declare log", "frame log payload 7",
                                                    "frame log payload 8", "frame log payload 9",
                                                    "frame log payload 10", "ended"});
  CHECK(fanout.publish(frames_of(one, 11, 1)).drained == 0); // it has ended

  const auto ledger = fanout.ledger();
  CHECK(ledger.arrived == 7);
  CHECK(ledger.published == 4);
  CHECK(ledger.bitbucketed == 2);
  CHECK(ledger.fanout.frames_after_end == 1);
  CHECK(ledger.balanced());
  const auto catalog =
      ask<DatastreamSnapshot>(test.system, fanout.actor, snapshot_atom_v, SubscriptionRequest{});
  REQUIRE(catalog);
  CHECK(catalog->streams.size() == 2);
  CHECK(catalog->channels.size() == 1);
  stop(reader);
}

TEST_CASE("a_fanout_actor_counts_what_makes_no_sense_and_what_contradicts_itself") {
  TestSystem test;
  Fanout fanout(test.system);
  EventBatch batch = frames_of(one, 0, 1);
  batch.malformed = 3;
  batch.declarations = {channel(one, 1, "log"), channel(one, 1, "other")};
  fanout.publish(batch);
  SubscriptionStart start;
  start.snapshot.channels = {*std::get<ChannelDescriptorPtr>(channel(one, 1, "yet another"))};
  fanout.publish(start);
  const auto ledger = fanout.ledger();
  CHECK(ledger.malformed_frames == 3);
  CHECK(ledger.conflicting_declarations == 2);
  CHECK(ledger.balanced());
}

TEST_CASE("a_fanout_actor_forgets_a_stream_that_is_over_and_keeps_its_counts") {
  TestSystem test;
  Fanout fanout(test.system);
  EventBatch batch = frames_of(one, 0, 3);
  batch.declarations = {channel(one, 1, "log")};
  batch.ended = StreamEnd{one, 3};
  fanout.publish(batch);
  fanout.publish(frames_of(two, 0, 1));
  CHECK(ask<bool>(test.system, fanout.actor, forget_atom_v, one) == true);
  CHECK(ask<bool>(test.system, fanout.actor, forget_atom_v, one) == false);
  const auto catalog =
      ask<DatastreamSnapshot>(test.system, fanout.actor, snapshot_atom_v, SubscriptionRequest{});
  REQUIRE(catalog);
  REQUIRE(catalog->streams.size() == 1);
  CHECK(catalog->streams[0].stream == two);
  CHECK(catalog->channels.empty());
  CHECK(fanout.ledger().arrived == 4);
  CHECK(fanout.publish(frames_of(one, 0, 1)).drained == 1); // it begins anew
}

TEST_CASE("a_reader_of_another_process_forgets_the_names_of_a_stream_and_learns_new_ones") {
  RemoteSystem test;
  Fanout fanout(test.system);
  const auto publish_named = [&](const StreamId& stream, std::uint64_t position, std::string name) {
    EventBatch batch = frames_of(stream, position, 1);
    batch.declarations = {channel(stream, 1, std::move(name))};
    fanout.publish(batch);
  };
  const auto port = publish(test.system, fanout.actor, 0);
  REQUIRE(port);
  RemoteSystem elsewhere; // its own node, over TCP
  const auto there = connect(elsewhere.system, "127.0.0.1", *port);
  REQUIRE(there);
  auto reader = ThreadSubscription::open(elsewhere.system, *there);
  REQUIRE(reader);
  const auto next_name = [&] {
    std::string name;
    while (name.empty()) {
      const auto batch = reader->recv_for(20s);
      REQUIRE(batch);
      batch->each([&](const FrameView& frame) { name = frame.name; });
    }
    return name;
  };
  publish_named(one, 0, "old");
  CHECK(next_name() == "old");
  publish_named(two, 0, "two");
  CHECK(next_name() == "two");
  // Not because the other process says so.
  const auto refused = ask<bool>(elsewhere.system, there->actor(), forget_atom_v, one);
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == caf::make_error(ActorError::not_local));

  REQUIRE(ask<bool>(test.system, fanout.actor, forget_atom_v, one) == true);
  CHECK(reader->forget(one));
  CHECK_FALSE(reader->forget(one));
  publish_named(one, 0, "new");
  CHECK(next_name() == "new");
  fanout.publish(frames_of(two, 1, 1));
  CHECK(next_name() == "two");
}

TEST_CASE("a_store_behind_a_collector_and_its_fanout_balances_end_to_end") {
  TestSystem test;
  Endpoint node{test.system, {.node = "node"}};
  Fanout fanout(test.system);
  // The reader comes first, and knows nothing of the node yet.
  const auto reader = spawn_consumer(
      test.system, {.subscribe = {.name = "reader", .capacity = {64, defaults::subscriber_bytes}}});
  REQUIRE(ask<SubscriptionStart>(test.system, reader, follow_atom_v, fanout.actor));
  const auto collected = std::make_shared<Seen>();
  const auto out = node.producer();
  const auto log = out.register_channel("log", TextStream{});
  for (int i = 0; i < 10; ++i)
    out.submit_text(log, "before anybody listens");
  REQUIRE(eventually([&] { return node.ledger().bitbucketed == 10; }));
  const auto collects =
      test.system.spawn(collector, node.ref(), fanout.actor, collected,
                        Subscribe{.name = "collector", .capacity = {500, 1U << 20U}});
  REQUIRE(eventually([&] { return collected->has_started(); }));
  for (int i = 0; i < 50'000; ++i)
    while (!out.submit_text(log, "line " + std::to_string(i)))
      std::this_thread::yield();
  CHECK(node.close(20s));
  REQUIRE(eventually([&] {
    const auto settled = ask<bool>(test.system, fanout.actor, settle_atom_v);
    const auto known = ask<IngestLedger>(test.system, reader, ledger_atom_v, node.stream_id());
    return settled && *settled && known && known->assigned;
  }));
  const auto ledger =
      ask<IngestLedger>(test.system, reader, ledger_atom_v, node.stream_id()).value();
  CHECK(ledger.from == Position{10});
  CHECK(ledger.assigned == 50'010);
  CHECK(ledger.balanced());
  const auto published = fanout.ledger();
  CHECK(published.balanced());
  CHECK(published.arrived == collected->frames());
  REQUIRE(published.fanout.subscribers.size() == 1);
  const auto dropped_here = published.fanout.subscribers[0].counts.dropped;
  CHECK(ledger.missing() == node.ledger().fanout.departed.dropped + dropped_here);
  CHECK(ledger.stored + ledger.missing() == 50'000);
  CHECK(node.ledger().balanced());
  // The name came all the way.
  const auto snapshot =
      ask<DatastreamSnapshot>(test.system, reader, snapshot_atom_v, SubscriptionRequest{});
  REQUIRE(snapshot);
  CHECK(std::ranges::count(snapshot->channels, "log", &ChannelDescriptor::name) == 1);
  stop(collects);
  stop(reader);
}

TEST_CASE("a_fanout_that_stops_tells_its_readers_and_holds_up_no_collector") {
  TestSystem test;
  Endpoint node{test.system, {.node = "node"}};
  const auto collected = std::make_shared<Seen>();
  const auto seen = std::make_shared<Seen>();
  caf::actor reader;
  caf::actor collects;
  {
    Fanout fanout(test.system);
    reader = spawn_recorder(test.system, EndpointRef(fanout.actor), seen);
    collects = test.system.spawn(collector, node.ref(), fanout.actor, collected, Subscribe{});
    REQUIRE(eventually([&] { return seen->has_started() && collected->has_started(); }));
    node.producer().submit_text(ChannelId{1}, "x");
    REQUIRE(eventually([&] { return seen->frames() == 1; }));
  }
  CHECK(eventually([&] { return seen->now().downs == 1; }));
  node.producer().submit_text(ChannelId{1}, "y");
  CHECK(eventually([&] { return collected->frames() == 2; }));
  CHECK(node.close(20s)); // acknowledged although nobody takes it
  stop(reader);
  stop(collects);
}

TEST_CASE("a_collector_is_told_once_that_its_fanout_is_gone_and_goes_on_acknowledging") {
  TestSystem test;
  Endpoint node{test.system, {.node = "node"}};
  const auto collected = std::make_shared<Seen>();
  const auto told = std::make_shared<Told>();
  caf::actor collects;
  {
    Fanout fanout(test.system);
    collects = test.system.spawn(collector_that_is_told, node.ref(), fanout.actor, collected, told,
                                 AfterDown::stay);
    REQUIRE(eventually([&] { return collected->has_started(); }));
    node.producer().submit_text(ChannelId{1}, "taken");
    REQUIRE(eventually([&] { return fanout.ledger().arrived == 1; }));
  }
  for (std::uint64_t n = 2; n <= 4; ++n) {
    node.producer().submit_text(ChannelId{1}, "for nobody");
    REQUIRE(
        eventually([&] { return collected->frames() == n && outstanding(node.ledger()) == 0; }));
    CHECK(told->times == 1);
  }
  CHECK(told->has_reason);
  CHECK(collected->now().downs == 0); // the endpoint is still there
  stop(collects);
}

TEST_CASE("a_collector_may_leave_when_it_is_told_that_its_fanout_is_gone") {
  TestSystem test;
  Endpoint node{test.system, {.node = "node"}};
  const auto collected = std::make_shared<Seen>();
  const auto told = std::make_shared<Told>();
  caf::actor gone;
  {
    const Fanout fanout(test.system);
    gone = fanout.actor;
  }
  // It learns of it at the beginning, without any frame.
  const auto collects = test.system.spawn(collector_that_is_told, node.ref(), gone, collected, told,
                                          AfterDown::leave);
  CHECK(eventually([&] { return told->times == 1 && node.ledger().fanout.subscribers.empty(); }));
  CHECK(collected->has_started());
  CHECK(told->has_reason);
  stop(collects);
}

TEST_CASE("a_slow_fanout_costs_the_collector_s_credit_and_no_memory") {
  // A fanout that takes a delivery only when it is told to.
  TestSystem test;
  Endpoint node{test.system, {.node = "node"}};
  struct Gate {
    std::atomic<int> waiting = 0;
    std::atomic<bool> open = false;
  };
  const auto gate = std::make_shared<Gate>();
  const auto slow =
      test.system.spawn<caf::detached>([gate](caf::event_based_actor*) -> caf::behavior {
        return {
            [gate](publish_atom, const EventBatch& batch) {
              ++gate->waiting;
              while (!gate->open)
                std::this_thread::yield();
              return EndpointTick{.drained = batch.frames.size()};
            },
            [](publish_atom, const SubscriptionStart&) { return EndpointTick{}; },
        };
      });
  const auto collected = std::make_shared<Seen>();
  const auto collects = test.system.spawn(collector, node.ref(), slow, collected,
                                          Subscribe{.name = "c", .capacity = {10, 1U << 20U}});
  REQUIRE(eventually([&] { return collected->has_started(); }));
  for (int i = 0; i < 1000; ++i)
    node.producer().submit_text(ChannelId{1}, "x");
  REQUIRE(eventually([&] { return node.ledger().in_mux == 0 && gate->waiting == 1; }));
  CHECK(collected->frames() <= 10);
  CHECK(outstanding(node.ledger()) == 10);
  gate->open = true;
  CHECK(eventually([&] { return outstanding(node.ledger()) == 0; }));
  CHECK(node.ledger().fanout.subscribers[0].counts.dropped == 990);
  stop(collects);
  stop(slow);
}
