/// An endpoint whose fanout is an actor of its own behaves as any other.
#include "actor_test.hpp"
#include "watchdog.hpp"

#include <datastream/actors/consumer_actor.hpp>
#include <datastream/caf/send.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

EndpointOptions own_actor(EndpointOptions options = {.node = "n"}) {
  options.fanout = FanoutPlacement::own_actor;
  return options;
}

} // namespace

TEST_CASE("an_own_fanout_delivers_everything_in_order_and_the_ledger_is_one_cut") {
  TestSystem test;
  Endpoint node{test.system, own_actor()};
  const auto seen = std::make_shared<Seen>();
  const auto reader = spawn_recorder(test.system, node.ref(), seen, {.name = "reader"});
  REQUIRE(eventually([&] { return seen->has_started(); }));
  auto pulled = node.subscribe("pulled", {}, {.frames = 100'000});
  const auto log = node.producer().register_channel("log", TextStream{});
  std::jthread cuts([&](const std::stop_token& stop) {
    while (!stop.stop_requested())
      REQUIRE(node.ledger().balanced());
  });
  for (int i = 0; i < 50'000; ++i)
    while (!node.producer().submit_text(log, "line"))
      std::this_thread::yield();
  CHECK(node.close(20s));
  cuts.request_stop();
  const auto events = seen->now();
  CHECK(events.ascending);
  CHECK(events.frames + events.dropped == 50'000);
  CHECK(events.gaps <= events.dropped);
  REQUIRE(events.ended);
  CHECK(events.ended->assigned == 50'000);
  std::uint64_t taken = 0;
  while (const auto batch = pulled.recv())
    taken += batch->frames.size();
  CHECK(taken == 50'000);
  CHECK(node.ledger().in_transit == 0);
  CHECK(eventually([&] { return seen->now().downs == 1; }));
  stop(reader);
}

TEST_CASE("an_own_fanout_serves_subscribers_through_the_endpoint_s_handle") {
  TestSystem test;
  Endpoint node{test.system, own_actor()};
  const auto seen = std::make_shared<Seen>(true);
  caf::actor reader = test.system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    Subscriber in{self};
    const auto number = in.subscribe(node.ref(), recording(seen), {.capacity = {3, 1U << 20U}});
    return in.handlers([=](int) mutable { in.unsubscribe(number); });
  });
  REQUIRE(eventually([&] { return seen->has_started(); }));
  for (int i = 0; i < 3; ++i) {
    node.producer().submit_text(ChannelId{1}, std::to_string(i));
    REQUIRE(eventually([&] { return seen->frames() == static_cast<std::uint64_t>(i) + 1; }));
  }
  CHECK(eventually([&] { return outstanding(node.ledger()) == 0; })); // acknowledged
  node.producer().register_channel("late", Bytes{});
  CHECK(eventually([&] { return seen->now().log.back() == "declare late"; }));
  CHECK_FALSE(
      ask<bool>(test.system, node.ref().actor(), unsubscribe_atom_v, SubscriptionId{1}).value());
  compat::anon_send(reader, 0);
  CHECK(eventually([&] { return node.ledger().fanout.subscribers.empty(); }));
  node.end_stream();
  // A late reader gets start and end, in this order.
  const auto late = std::make_shared<Seen>(true);
  const auto second = spawn_recorder(test.system, node.ref(), late);
  REQUIRE(eventually([&] { return late->has_ended(); }));
  CHECK(late->now().log == std::vector<std::string>{"start", "ended"});
  CHECK(node.ledger().balanced());
  stop(reader);
  stop(second);
}

TEST_CASE("an_own_fanout_wakes_from_idleness_and_falls_idle_again") {
  TestSystem test;
  Endpoint node{test.system, own_actor()};
  auto tail = node.subscribe("tail");
  for (int i = 0; i < 20; ++i) {
    node.producer().submit_text(ChannelId{1}, "x");
    REQUIRE(tail.recv_for(10s));
    std::this_thread::sleep_for(i % 2 ? defaults::idle_after + 3ms : 1ms);
  }
}

TEST_CASE("a_manual_endpoint_ticks_through_its_own_fanout") {
  TestSystem test;
  Endpoint node{test.system, own_actor({.node = "n", .tick_interval = EndpointOptions::manual})};
  auto tail = node.subscribe("tail");
  node.producer().submit_text(ChannelId{1}, "x");
  CHECK(tail.try_recv().error() == RecvError::empty);
  CHECK(ask<EndpointTick>(test.system, node.ref().actor(), tick_atom_v) ==
        EndpointTick{.drained = 1, .delivered = 1, .subscribers = 1});
  CHECK(tail.try_recv());
  Endpoint automatic{test.system, own_actor()};
  CHECK_FALSE(ask<EndpointTick>(test.system, automatic.ref().actor(), tick_atom_v));
}

TEST_CASE("an_own_fanout_that_dies_ends_the_stream_and_the_endpoint") {
  Watchdog watchdog(60s);
  TestSystem test;
  Endpoint node{test.system, own_actor()};
  const auto seen = std::make_shared<Seen>();
  const auto reader = spawn_recorder(test.system, node.ref(), seen);
  REQUIRE(eventually([&] { return seen->has_started(); }));
  node.producer().submit_text(ChannelId{1}, "x");
  // The only way to its handle: a message that it answers.
  caf::scoped_actor self{test.system};
  compat::send(self.ptr(), node.ref().actor(), subscribe_atom_v, Subscribe{}, caf::actor(self));
  caf::actor fanout;
  self->receive([&](const SubscriptionStart&) {
    fanout = caf::actor_cast<caf::actor>(self->current_sender());
  });
  REQUIRE(fanout);
  REQUIRE(fanout != node.ref().actor());
  stop(fanout);
  fanout = nullptr;
  CHECK(eventually([&] { return node.ledger().ended; }));
  CHECK(eventually([&] { return seen->has_ended() && seen->now().downs == 1; }));
  CHECK(seen->frames() == 1);
  watchdog.feed("close");
  CHECK_FALSE(node.close(1h));
  CHECK(node.ledger().balanced());
  stop(reader);
}

TEST_CASE("an_endpoint_that_is_killed_ends_its_stream_and_its_own_fanout") {
  Watchdog watchdog(60s);
  TestSystem test;
  for (int round = 0; round < 20; ++round) {
    Endpoint node{test.system, own_actor()};
    auto tail = node.subscribe("tail");
    node.producer().submit_text(ChannelId{1}, "x");
    caf::anon_send_exit(node.ref().actor(), caf::exit_reason::kill);
    CHECK(eventually([&] { return node.ledger().ended; }));
    watchdog.feed("close");
    CHECK_FALSE(node.close(1h));
    CHECK(tail.recv()->frames.size() == 1);
    CHECK(node.ledger().balanced());
  }
}

TEST_CASE("readers_of_an_endpoint_that_is_killed_get_the_rest_and_the_end_before_they_are_told") {
  TestSystem test;
  for (const auto fanout : {FanoutPlacement::in_endpoint, FanoutPlacement::own_actor}) {
    Endpoint node{test.system, {.node = "n", .fanout = fanout}};
    const auto seen = std::make_shared<Seen>(true);
    const auto reader = spawn_recorder(test.system, node.ref(), seen);
    REQUIRE(eventually([&] { return seen->has_started(); }));
    node.producer().submit_text(ChannelId{1}, "x");
    caf::anon_send_exit(node.ref().actor(), caf::exit_reason::kill);
    CHECK(eventually([&] { return seen->now().downs == 1; }));
    CHECK(seen->now().log == std::vector<std::string>{"start", "frame  x", "ended", "down"});
    stop(reader);
  }
}
