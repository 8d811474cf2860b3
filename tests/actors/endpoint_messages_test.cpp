#include "actor_test.hpp"

#include <datastream/actors/detail/within_memory.hpp>

#include <datastream/actors/consumer_actor.hpp>
#include <datastream/caf/handlers.hpp>
#include <datastream/model/health.hpp>

#include <doctest/doctest.h>

#include <random>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

constexpr auto manual = EndpointOptions::manual;

bool is(const caf::error& error, ActorError code) {
  return error && error.category() == caf::make_error(code).category() &&
         error.code() == static_cast<std::uint8_t>(code);
}

} // namespace

TEST_CASE("registering_submitting_and_asking_work_by_message") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n", .label = "l", .tick_interval = manual}};
  const caf::actor& actor = node.ref().actor();
  const auto id = ask<ChannelId>(test.system, actor, register_atom_v, std::string("a.log"),
                                 ChannelContent(TextStream{}));
  REQUIRE(id);
  CHECK(*id == ChannelId{1});
  CHECK(ask<ChannelId>(test.system, actor, register_atom_v, std::string("a.log"),
                       ChannelContent(TextStream{})) == id);
  CHECK(ask<bool>(test.system, actor, submit_atom_v, *id, std::string("x")).value());
  CHECK(ask<bool>(test.system, actor, health_atom_v).value());
  const auto ledger = ask<PipeLedger>(test.system, actor, ledger_atom_v);
  REQUIRE(ledger);
  CHECK(ledger->in_mux == 2);
  CHECK(ledger->submitted() == 2);
  CHECK(ledger->balanced());
  const auto snapshot =
      ask<DatastreamSnapshot>(test.system, actor, snapshot_atom_v, SubscriptionRequest::all());
  REQUIRE(snapshot);
  REQUIRE(snapshot->streams.size() == 1);
  CHECK(snapshot->streams[0].label == "l");
  REQUIRE(snapshot->channels.size() == 2);
  CHECK(snapshot->channels[1].name == health_channel);
  const auto ended = ask<PipeLedger>(test.system, actor, end_atom_v);
  REQUIRE(ended);
  CHECK(ended->ended);
  CHECK(ended->assigned == 2);
  CHECK(ended->bitbucketed == 2);
  CHECK_FALSE(ask<bool>(test.system, actor, submit_atom_v, *id, std::string("late")).value());
  CHECK(node.ledger().refused.stream_ended == 1);
}

TEST_CASE("refused_requests_say_why") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  const caf::actor& actor = node.ref().actor();
  const auto reg = [&](const char* name, ChannelContent content) {
    return ask<ChannelId>(test.system, actor, register_atom_v, std::string(name),
                          std::move(content));
  };
  REQUIRE(reg("a", TextStream{}));
  const auto conflict = reg("a", Bytes{});
  REQUIRE_FALSE(conflict);
  CHECK(is(conflict.error(), ActorError::conflicting_name));
  const auto tick = ask<EndpointTick>(test.system, actor, tick_atom_v);
  REQUIRE_FALSE(tick);
  CHECK(is(tick.error(), ActorError::not_manual));
  const auto nobody =
      ask<SubscriptionStart>(test.system, actor, subscribe_atom_v, Subscribe{}, caf::actor{});
  REQUIRE_FALSE(nobody);
  CHECK(is(nobody.error(), ActorError::no_subscriber));
  node.end_stream();
  const auto ended = reg("b", TextStream{});
  REQUIRE_FALSE(ended);
  CHECK(is(ended.error(), ActorError::stream_ended));
}

TEST_CASE("an_unknown_message_is_answered_with_an_error_and_harms_nothing") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  const auto answer = ask<int>(test.system, node.ref().actor(), std::string("what?"), 1.5);
  REQUIRE_FALSE(answer);
  CHECK(answer.error() == caf::sec::unexpected_message);
  CHECK(ask<PipeLedger>(test.system, node.ref().actor(), ledger_atom_v));
}

TEST_CASE("an_error_that_comes_back_for_a_reply_ends_no_actor_of_ours") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  const auto consumer = spawn_consumer(test.system);
  std::atomic<int> refused = 0;
  const auto careless = test.system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    // Sent, not requested: the replies are messages, which this actor has no handler for.
    compat::send(self, node.ref().actor(), ledger_atom_v);
    compat::send(self, consumer, streams_atom_v);
    return compat::telling_unexpected(self, {[](int) {}}, [&] { ++refused; });
  });
  REQUIRE(eventually([&] { return refused == 2; }));
  CHECK(ask<PipeLedger>(test.system, node.ref().actor(), ledger_atom_v));
  CHECK(ask<std::vector<StreamId>>(test.system, consumer, streams_atom_v));
  stop(careless);
  stop(consumer);
}

TEST_CASE("a_manual_endpoint_drains_only_when_it_is_told_to") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n", .tick_interval = manual}};
  const caf::actor& actor = node.ref().actor();
  auto seen = std::make_shared<Seen>();
  const auto reader = spawn_recorder(test.system, node.ref(), seen, {.capacity = {3, 1U << 20U}});
  REQUIRE(eventually([&] { return seen->has_started(); }));
  auto pulled = node.subscribe("pulled", SubscriptionRequest::all(), {5, 1U << 20U});
  const auto out = node.producer();
  for (int i = 0; i < 8; ++i)
    CHECK(out.submit_text(ChannelId{1}, "x"));
  // What wakes or polls an endpoint that ticks by itself means nothing to this one. Requests are
  // answered in order, so this is certain, not merely likely.
  compat::anon_send(actor, poll_atom_v);
  compat::anon_send(actor, poll_atom_v, std::uint64_t{0});
  CHECK(ask<PipeLedger>(test.system, actor, ledger_atom_v)->in_mux == 8);
  CHECK(pulled.try_recv() == std::unexpected(RecvError::empty));

  const auto tick = ask<EndpointTick>(test.system, actor, tick_atom_v);
  REQUIRE(tick);
  CHECK(*tick ==
        EndpointTick{.drained = 8, .delivered = 8, .dropped_for_subscribers = 8, .subscribers = 2});
  CHECK(tick->delivered + tick->dropped_for_subscribers == tick->drained * tick->subscribers);
  CHECK(ask<EndpointTick>(test.system, actor, tick_atom_v).value() == EndpointTick{});
  CHECK(eventually([&] { return seen->now().dropped == 5; }));
  CHECK(seen->frames() == 3);
  CHECK(node.ledger().balanced());
  stop(reader);
}

TEST_CASE("a_new_channel_alone_reaches_subscribers") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  auto seen = std::make_shared<Seen>();
  const auto reader = spawn_recorder(test.system, node.ref(), seen);
  REQUIRE(eventually([&] { return seen->has_started(); }));
  for (int i = 0; i < 20; ++i) {
    // Now while it polls, now while it sleeps.
    if (i % 2)
      std::this_thread::sleep_for(defaults::idle_after + 2ms);
    const std::string name = "c" + std::to_string(i);
    node.producer().register_channel(name, TextStream{});
    REQUIRE(eventually([&] { return seen->now().log.back() == "declare " + name; }));
  }
  CHECK(seen->now().log.size() == 21);
  stop(reader);
}

TEST_CASE("no_wake_up_is_lost_around_the_edge_of_idleness") {
  TestSystem test;
  // Short polls, so that falling idle and submitting meet often.
  Endpoint node{test.system, {.node = "n", .tick_interval = 200us}};
  auto tail = node.subscribe("tail");
  const auto out = node.producer();
  std::mt19937 random(7);
  std::uniform_int_distribution<int> choose(0, 99);
  std::uniform_int_distribution<int> near_idle(9'000, 11'500); // microseconds
  std::uint64_t received = 0;
  std::uint64_t accepted = 0;
  for (int i = 0; i < 10'000; ++i) {
    REQUIRE(out.submit_text(ChannelId{1}, "x"));
    ++accepted;
    const int how = choose(random);
    if (how > 4)
      continue; // bursts
    // Everything so far has to come by itself: nothing else is submitted meanwhile.
    while (received < accepted) {
      const auto batch = tail.recv_for(10s);
      REQUIRE(batch);
      received += batch->frames.size();
    }
    if (how > 1)
      std::this_thread::sleep_for(std::chrono::microseconds(near_idle(random)));
  }
  node.close();
  while (const auto batch = tail.recv())
    received += batch->frames.size();
  CHECK(received == 10'000);
  CHECK(node.ledger().assigned == 10'000);
}

TEST_CASE("an_idle_endpoint_still_reports_its_health") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n", .health_interval = 30ms}};
  auto tail = node.subscribe("tail");
  const auto begin = std::chrono::steady_clock::now();
  std::size_t records = 0;
  while (records < 4) {
    const auto batch = tail.recv_for(10s);
    REQUIRE(batch);
    batch->each([&](const FrameView& frame) { records += frame.name == health_channel; });
  }
  CHECK(std::chrono::steady_clock::now() - begin >= 110ms);
}

TEST_CASE("who_asks_for_more_than_there_is_memory_for_gets_an_error_and_ends_nobody") {
  TestSystem test;
  const auto actor = test.system.spawn([]() -> caf::behavior {
    return {[](int number) {
      return within_memory<int>([number]() -> int {
        if (number < 0)
          throw std::bad_alloc();
        return number;
      });
    }};
  });
  CHECK(ask<int>(test.system, actor, -1).error() == caf::make_error(ActorError::out_of_memory));
  CHECK(ask<int>(test.system, actor, 7) == 7);
  stop(actor);
}
