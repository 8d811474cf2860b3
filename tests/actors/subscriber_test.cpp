#include "actor_test.hpp"
#include "watchdog.hpp"

#include <datastream/caf/handlers.hpp>
#include <datastream/caf/monitors.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <latch>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

constexpr auto manual = EndpointOptions::manual;

EndpointTick tick(TestSystem& test, const Endpoint& node) {
  return ask<EndpointTick>(test.system, node.ref().actor(), tick_atom_v).value();
}

/// Subscribes without a `Subscriber`: nothing is acknowledged but by hand.
SubscriptionId subscribe_by_hand(caf::scoped_actor& reader, const Endpoint& node,
                                 const Subscribe& request = {}) {
  SubscriptionId id;
  compat::request(reader.ptr(), node.ref().actor(), 20s, subscribe_atom_v, request,
                  caf::actor_cast<caf::actor>(reader))
      .receive([&](const SubscriptionStart& start) { id = start.id; },
               [](const caf::error&) { FAIL("refused"); });
  return id;
}

/// Blocks in its first delivery until it is released.
struct Gate {
  std::latch entered{1};
  std::latch open{1};
};

caf::behavior blocked_reader(caf::event_based_actor* self, const EndpointRef& node,
                             const SeenPtr& seen, const std::shared_ptr<Gate>& gate,
                             const Subscribe& request) {
  Subscriber in{self};
  in.subscribe(node,
               {.on_batch =
                    [=](const EventBatch& batch) {
                      if (seen->now().batches == 0) {
                        gate->entered.count_down();
                        gate->open.wait();
                      }
                      seen->received(batch);
                    },
                .on_start = [=](const SubscriptionStart& start) { seen->started(start); }},
               request);
  return in.handlers();
}

} // namespace

TEST_CASE("what_is_declared_comes_once_and_before_its_frames_and_after_the_start") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n", .tick_interval = manual}};
  const auto out = node.producer();
  const auto a = out.register_channel("a", TextStream{});
  auto seen = std::make_shared<Seen>(true);
  const auto reader = spawn_recorder(test.system, node.ref(), seen);
  REQUIRE(eventually([&] { return seen->has_started(); }));
  REQUIRE(seen->now().start->snapshot.channels.size() == 1);
  out.submit_text(a, "1");
  const auto b = out.register_channel("b", TextStream{});
  out.submit_text(b, "2");
  tick(test, node);
  out.submit_text(b, "3");
  tick(test, node);
  node.end_stream();
  REQUIRE(eventually([&] { return seen->has_ended(); }));
  CHECK(seen->now().log == std::vector<std::string>{"start", "declare b", "frame a 1", "frame b 2",
                                                    "frame b 3", "ended"});
  CHECK(seen->now().ended == StreamEnd{node.stream_id(), 3});
  REQUIRE(node.close());
  CHECK(eventually([&] { return seen->now().downs == 1; }));
  CHECK(seen->now().log.back() == "down");
  CHECK(seen->now().reason == caf::exit_reason::user_shutdown);
  stop(reader);
}

TEST_CASE("who_joins_costs_those_who_are_there_nothing") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n", .tick_interval = manual}};
  const auto there = std::make_shared<Seen>();
  const auto reader = spawn_recorder(test.system, node.ref(), there);
  REQUIRE(eventually([&] { return there->has_started(); }));
  std::vector<caf::actor> joining;
  for (int i = 0; i < 100; ++i) {
    // Whoever is looked at would be told of this.
    node.producer().register_channel(std::to_string(i), TextStream{});
    const auto seen = std::make_shared<Seen>();
    joining.push_back(spawn_recorder(test.system, node.ref(), seen));
    REQUIRE(eventually([&] { return seen->has_started(); }));
  }
  tick(test, node);
  REQUIRE(eventually([&] { return there->now().log.size() == 101; })); // the start, and those
  CHECK(there->now().batches == 1);
  for (const caf::actor& other : joining)
    stop(other);
  stop(reader);
}

TEST_CASE("no_delivery_overtakes_the_start") {
  TestSystem test;
  for (int i = 0; i < 200; ++i) {
    Endpoint node{test.system, {.node = "n"}};
    std::vector<SeenPtr> seen;
    std::vector<caf::actor> readers;
    for (int reader = 0; reader < 16; ++reader) {
      seen.push_back(std::make_shared<Seen>());
      readers.push_back(spawn_recorder(test.system, node.ref(), seen.back()));
    }
    // Meets subscriptions in every state: before, while and after they begin.
    REQUIRE(eventually([&] { return seen[static_cast<std::size_t>(i % 8)]->has_started(); }));
    node.end_stream();
    for (const SeenPtr& reader : seen) {
      REQUIRE(eventually([&] { return reader->has_ended(); }));
      REQUIRE(reader->now().log == std::vector<std::string>{"start", "ended"});
    }
    for (const caf::actor& reader : readers)
      stop(reader);
  }
}

TEST_CASE("a_watch_that_was_taken_back_says_nothing") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  caf::scoped_actor watcher{test.system};
  const auto watch = [&](int number) {
    return std::make_unique<compat::DownWatch>(node.ref().actor(),
                                               caf::actor_cast<caf::actor>(watcher), number);
  };
  // Whatever the order in which they are told, the second is between the others.
  const auto first = watch(1);
  auto second = watch(2);
  const auto third = watch(3);
  second.reset();
  node.close();
  int told = 0;
  for (int i = 0; i < 2; ++i)
    watcher->receive([&](int number, const caf::error&) { told += number; });
  CHECK(told == 4);
}

TEST_CASE("one_actor_reads_several_endpoints_and_one_endpoint_twice") {
  TestSystem test;
  Endpoint first{test.system, {.node = "1"}};
  Endpoint second{test.system, {.node = "2"}};
  const auto seen = std::vector<SeenPtr>{std::make_shared<Seen>(true), std::make_shared<Seen>(true),
                                         std::make_shared<Seen>(true)};
  std::atomic<int> own = 0;
  const auto reader = test.system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    Subscriber in{self};
    in.subscribe(first.ref(), recording(seen[0]));
    in.subscribe(second.ref(), recording(seen[1]));
    in.subscribe(second.ref(), recording(seen[2]));
    return in.handlers([&](int value) { own = value; });
  });
  REQUIRE(eventually([&] { return std::ranges::all_of(seen, &Seen::has_started); }));
  const auto one = first.producer();
  const auto two = second.producer();
  one.submit_text(one.register_channel("one", TextStream{}), "x");
  two.submit_text(two.register_channel("two", TextStream{}), "y");
  REQUIRE(eventually(
      [&] { return std::ranges::all_of(seen, [](auto& s) { return s->frames() == 1; }); }));
  CHECK(seen[0]->now().log.back() == "frame one x");
  CHECK(seen[1]->now().log.back() == "frame two y");
  CHECK(seen[2]->now().log.back() == "frame two y");
  compat::anon_send(reader, 7);
  CHECK(eventually([&] { return own == 7; }));
  second.close();
  CHECK(eventually([&] { return seen[1]->now().downs == 1 && seen[2]->now().downs == 1; }));
  CHECK(seen[0]->now().downs == 0);
  stop(reader);
}

TEST_CASE("a_handler_may_unsubscribe_and_keeps_what_it_changed_in_itself") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n", .tick_interval = manual}};
  std::atomic<int> calls = 0;
  std::atomic<int> strangers = 0;
  std::atomic<bool> ready = false;
  const auto reader = test.system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    Subscriber in{self};
    auto token = std::make_shared<std::uint64_t>();
    *token = in.subscribe(node.ref(), {.on_batch =
                                           [&, in, token, count = 0](const EventBatch&) mutable {
                                             calls = ++count;
                                             if (count == 2) {
                                               in.unsubscribe(*token);
                                               in.unsubscribe(*token);
                                             }
                                           },
                                       .on_start = [&](const auto&) { ready = true; }});
    // The reply to leaving is no business of the actor's own handlers.
    return compat::telling_unexpected(self, in.handlers(), [&] { ++strangers; });
  });
  REQUIRE(eventually([&] { return ready.load(); }));
  for (int i = 0; i < 3; ++i) {
    node.producer().submit_text(ChannelId{1}, "x");
    tick(test, node);
    if (i < 2)
      REQUIRE(eventually([&] { return calls == i + 1; }));
    if (i == 1)
      REQUIRE(eventually([&] { return node.ledger().fanout.subscribers.empty(); }));
  }
  CHECK(calls == 2);
  CHECK(node.ledger().fanout.stray_acknowledgements == 0);
  CHECK(node.ledger().bitbucketed == 1);
  CHECK(node.ledger().balanced());
  CHECK(ask<int>(test.system, reader, 1.5).error() == caf::sec::unexpected_message);
  CHECK(strangers == 1);
  stop(reader);
}

TEST_CASE("unsubscribing_before_the_endpoint_has_answered_leaves_nothing_behind") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  auto seen = std::make_shared<Seen>();
  const auto reader = test.system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    Subscriber in{self};
    in.unsubscribe(in.subscribe(node.ref(), recording(seen)));
    return in.handlers();
  });
  // Once the reader answers it has asked, and once the endpoint answers it was there.
  REQUIRE_FALSE(ask<bool>(test.system, reader, 1));
  REQUIRE(ask<PipeLedger>(test.system, node.ref().actor(), ledger_atom_v));
  REQUIRE(eventually([&] { return node.ledger().fanout.subscribers.empty(); }));
  CHECK(node.subscribe("tail").id() == SubscriptionId{2});
  CHECK_FALSE(seen->has_started());
  CHECK(node.close());
  stop(reader);
}

TEST_CASE("a_subscription_to_nobody_fails_at_once") {
  TestSystem test;
  auto nobody = std::make_shared<Seen>();
  auto gone = std::make_shared<Seen>();
  EndpointRef dead;
  {
    Endpoint node{test.system, {.node = "n"}};
    dead = node.ref();
  }
  const auto one = spawn_recorder(test.system, EndpointRef{}, nobody);
  const auto two = spawn_recorder(test.system, dead, gone);
  CHECK(eventually([&] { return nobody->now().downs == 1 && gone->now().downs == 1; }));
  CHECK(nobody->now().reason);
  CHECK(gone->now().reason);
  stop(one);
  stop(two);
}

TEST_CASE("a_late_subscriber_is_told_the_end_after_its_start") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  node.producer().submit_text(ChannelId{1}, "x");
  node.end_stream();
  auto seen = std::make_shared<Seen>();
  const auto reader = spawn_recorder(test.system, node.ref(), seen);
  REQUIRE(eventually([&] { return seen->has_ended(); }));
  CHECK(seen->now().log == std::vector<std::string>{"start", "ended"});
  CHECK(seen->now().ended->assigned == 1);
  CHECK(seen->now().start->starts[0].from == Position{1});
  CHECK(node.close());
  stop(reader);
}

TEST_CASE("a_stopped_reader_holds_exactly_its_capacity_and_costs_nobody_else") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n", .tick_interval = manual}};
  auto stopped = std::make_shared<Seen>();
  auto healthy = std::make_shared<Seen>();
  auto gate = std::make_shared<Gate>();
  const auto slow =
      test.system.spawn<caf::detached>(blocked_reader, node.ref(), stopped, gate,
                                       Subscribe{.name = "slow", .capacity = {100, 1U << 20U}});
  const auto fast = spawn_recorder(test.system, node.ref(), healthy, {.name = "fast"});
  REQUIRE(eventually([&] { return stopped->has_started() && healthy->has_started(); }));
  std::uint64_t sent = 0;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 30; ++i)
      sent += node.producer().submit_text(ChannelId{1}, "x");
    tick(test, node);
    REQUIRE(eventually([&] { return healthy->frames() == sent; }));
  }
  gate->entered.wait();
  REQUIRE(
      eventually([&] { return outstanding(node.ledger()) == 100; })); // the last acknowledgement
  auto ledger = node.ledger();
  CHECK(ledger.balanced());
  for (const auto& entry : ledger.fanout.subscribers) {
    CHECK(entry.counts.offered == 1500);
    CHECK(entry.counts.outstanding == (entry.name == "slow" ? 100 : 0));
    CHECK(entry.counts.dropped == (entry.name == "slow" ? 1400 : 0));
  }
  gate->open.count_down();
  // It is told what it lost as soon as it has room, without a further frame.
  REQUIRE(eventually([&] { return stopped->now().dropped == 1400; }));
  CHECK(stopped->frames() == 100);
  CHECK(eventually([&] { return outstanding(node.ledger()) == 0; }));
  CHECK(node.close());
  ledger = node.ledger();
  CHECK(ledger.balanced());
  CHECK(ledger.fanout.departed.acknowledged == 1600);
  CHECK(healthy->now().gaps == 0);
  stop(slow);
  stop(fast);
}

TEST_CASE("a_reader_gets_no_more_room_than_the_endpoint_allows_however_much_it_asks_for") {
  constexpr std::size_t most = defaults::subscriber_actor_frames_max;
  TestSystem test;
  Endpoint node{test.system, {.node = "n", .tick_interval = manual}};
  auto seen = std::make_shared<Seen>();
  auto gate = std::make_shared<Gate>();
  constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();
  const auto greedy = test.system.spawn<caf::detached>(
      blocked_reader, node.ref(), seen, gate,
      Subscribe{.name = "greedy", .capacity = {everything, everything}});
  REQUIRE(eventually([&] { return seen->has_started(); }));
  const auto out = node.producer();
  const std::vector<std::string_view> payloads(defaults::mux_frames, "x");
  for (std::size_t sent = 0; sent <= most; sent += payloads.size()) {
    REQUIRE(out.submit_many(ChannelId{1}, payloads) == payloads.size());
    tick(test, node);
  }
  const auto ledger = node.ledger();
  REQUIRE(ledger.fanout.subscribers.size() == 1);
  CHECK(ledger.fanout.subscribers[0].counts.outstanding == most);
  CHECK(ledger.fanout.subscribers[0].counts.dropped == payloads.size());
  CHECK(ledger.balanced());
  gate->open.count_down();
  stop(greedy);
}

TEST_CASE("a_reader_pins_no_more_bytes_than_the_endpoint_allows_however_many_it_asks_for") {
  // Payloads that nobody writes or reads: their memory is reserved, and never touched.
  const auto largest = [] {
    std::string payload;
    payload.resize_and_overwrite(defaults::payload_bytes_max,
                                 [](char*, std::size_t size) { return size; });
    return payload;
  };
  constexpr std::size_t most = defaults::subscriber_actor_bytes_max / defaults::payload_bytes_max;
  TestSystem test;
  Endpoint node{test.system, {.node = "n", .tick_interval = manual}};
  auto seen = std::make_shared<Seen>();
  auto gate = std::make_shared<Gate>();
  constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();
  const auto greedy = test.system.spawn<caf::detached>(
      blocked_reader, node.ref(), seen, gate,
      Subscribe{.name = "greedy", .capacity = {everything, everything}});
  REQUIRE(eventually([&] { return seen->has_started(); }));
  for (std::size_t sent = 0; sent < most + 2; ++sent) {
    REQUIRE(node.producer().submit_bytes_owned(ChannelId{1}, largest()));
    tick(test, node);
  }
  const auto ledger = node.ledger();
  REQUIRE(ledger.fanout.subscribers.size() == 1);
  CHECK(ledger.fanout.subscribers[0].counts.outstanding == most);
  CHECK(ledger.fanout.subscribers[0].counts.dropped == 2);
  CHECK(ledger.balanced());
  gate->open.count_down();
  stop(greedy);
}

TEST_CASE("acknowledgements_from_strangers_backwards_and_beyond_are_counted_and_ignored") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n", .tick_interval = manual}};
  caf::scoped_actor reader{test.system}; // acknowledges by hand
  const SubscriptionId id = subscribe_by_hand(reader, node, {.token = 5});
  std::vector<std::uint64_t> sequences;
  for (int i = 0; i < 3; ++i) {
    node.producer().submit_text(ChannelId{1}, "x");
    tick(test, node);
    reader->receive([&](event_atom, std::uint64_t token, const EventBatch& batch) {
      CHECK(token == 5);
      CHECK(batch.subscription == id);
      sequences.push_back(batch.sequence);
    });
  }
  REQUIRE(sequences == std::vector<std::uint64_t>{1, 2, 3});
  const auto after = [&](auto send) {
    send();
    return ask<PipeLedger>(test.system, node.ref().actor(), ledger_atom_v).value().fanout;
  };
  const auto acknowledge = [&](std::uint64_t sequence) {
    return after(
        [&] { compat::send(reader.ptr(), node.ref().actor(), acknowledge_atom_v, id, sequence); });
  };
  auto ledger = after(
      [&] { compat::anon_send(node.ref().actor(), acknowledge_atom_v, id, std::uint64_t{3}); });
  CHECK(ledger.stray_acknowledgements == 1);
  {
    caf::scoped_actor stranger{test.system};
    ledger = after([&] {
      compat::send(stranger.ptr(), node.ref().actor(), acknowledge_atom_v, id, std::uint64_t{3});
    });
    CHECK(ledger.stray_acknowledgements == 2);
    CHECK_FALSE(ask<bool>(test.system, node.ref().actor(), unsubscribe_atom_v, id).value());
  }
  ledger = acknowledge(4);
  CHECK(ledger.stray_acknowledgements == 3);
  CHECK(ledger.subscribers[0].counts.outstanding == 3);
  ledger = acknowledge(2);
  CHECK(ledger.stray_acknowledgements == 3);
  CHECK(ledger.subscribers[0].counts.outstanding == 1);
  ledger = acknowledge(1);
  CHECK(ledger.stray_acknowledgements == 4);
  CHECK(ledger.subscribers[0].counts.acknowledged == 2);
  CHECK(ledger.balanced());
}

TEST_CASE("a_reader_neither_acknowledges_nor_unsubscribes_for_another_reader") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n", .tick_interval = manual}};
  caf::scoped_actor one{test.system};
  caf::scoped_actor other{test.system};
  const SubscriptionId id = subscribe_by_hand(one, node);
  subscribe_by_hand(other, node);
  node.producer().submit_text(ChannelId{1}, "x");
  tick(test, node);
  compat::send(other.ptr(), node.ref().actor(), acknowledge_atom_v, id, std::uint64_t{1});
  std::optional<bool> left;
  compat::request(other.ptr(), node.ref().actor(), 20s, unsubscribe_atom_v, id)
      .receive([&](bool was_there) { left = was_there; },
               [](const caf::error&) { FAIL("not answered"); });
  CHECK(left == false);
  const FanoutLedger ledger = node.ledger().fanout;
  CHECK(ledger.stray_acknowledgements == 1);
  REQUIRE(ledger.subscribers.size() == 2);
  CHECK(ledger.subscribers[0].counts.outstanding == 1);
}

TEST_CASE("readers_of_an_endpoint_that_is_killed_receive_the_rest_before_they_are_told") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n", .tick_interval = manual}};
  auto seen = std::make_shared<Seen>(true);
  const auto reader = spawn_recorder(test.system, node.ref(), seen);
  REQUIRE(eventually([&] { return seen->has_started(); }));
  node.producer().submit_text(ChannelId{1}, "the rest");
  caf::anon_send_exit(node.ref().actor(), caf::exit_reason::kill);
  REQUIRE(eventually([&] { return seen->now().downs == 1; }));
  CHECK(seen->now().log == std::vector<std::string>{"start", "frame  the rest", "ended", "down"});
  stop(reader);
}

TEST_CASE("a_reader_that_ends_is_removed_and_what_it_held_is_abandoned") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n", .tick_interval = manual}};
  {
    caf::scoped_actor reader{test.system}; // never acknowledges
    compat::request(reader.ptr(), node.ref().actor(), 20s, subscribe_atom_v, Subscribe{},
                    caf::actor_cast<caf::actor>(reader))
        .receive([](const SubscriptionStart&) {}, [](const caf::error&) { FAIL("refused"); });
    for (int i = 0; i < 3; ++i) {
      node.producer().submit_text(ChannelId{1}, "x");
      tick(test, node);
    }
    CHECK(outstanding(node.ledger()) == 3);
  }
  REQUIRE(eventually([&] { return node.ledger().fanout.subscribers.empty(); }));
  const auto departed = node.ledger().fanout.departed;
  CHECK(departed.offered == 3);
  CHECK(departed.abandoned == 3);
  CHECK(node.ledger().balanced());
}

TEST_CASE("an_exception_in_a_handler_ends_that_actor_only") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  auto seen = std::make_shared<Seen>();
  const auto healthy = spawn_recorder(test.system, node.ref(), seen);
  const auto bad = test.system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    Subscriber in{self};
    in.subscribe(node.ref(), [](const EventBatch&) { throw std::runtime_error("user"); });
    return in.handlers();
  });
  REQUIRE(eventually([&] { return node.ledger().fanout.subscribers.size() == 2; }));
  REQUIRE(eventually([&] { return seen->has_started(); }));
  node.producer().submit_text(ChannelId{1}, "x");
  caf::scoped_actor self{test.system};
  self->wait_for(bad);
  REQUIRE(eventually([&] { return node.ledger().fanout.subscribers.size() == 1; }));
  CHECK(node.ledger().fanout.departed.abandoned == 1);
  node.producer().submit_text(ChannelId{1}, "y");
  CHECK(eventually([&] { return seen->frames() == 2; }));
  CHECK(node.close());
  stop(healthy);
}

TEST_CASE("readers_that_come_and_go_leave_nothing_in_the_endpoint") {
  TestSystem test;
  auto watched = std::make_shared<int>(0);
  Endpoint node{test.system, {.node = "n"}};
  for (int i = 0; i < 50; ++i) {
    auto seen = std::make_shared<Seen>();
    const auto reader = test.system.spawn([&,
                                           watched](caf::event_based_actor* self) -> caf::behavior {
      Subscriber in{self};
      // A handler that holds its own subscriber: a cycle, which must not outlive the actor.
      in.subscribe(node.ref(), {.on_batch = [in, watched](const EventBatch&) {},
                                .on_start = [seen](const auto& start) { seen->started(start); }});
      return in.handlers();
    });
    REQUIRE(eventually([&] { return seen->has_started(); }));
    stop(reader);
  }
  REQUIRE(eventually([&] { return node.ledger().fanout.subscribers.empty(); }));
  CHECK(eventually([&] { return watched.use_count() == 1; }));
  CHECK(node.ledger().balanced());
}

TEST_CASE("a_reader_nobody_else_holds_may_own_a_subscription_of_the_same_endpoint") {
  Watchdog watchdog(20s);
  TestSystem test;
  auto alive = std::make_shared<int>(0);
  for (int i = 0; i < 100; ++i) {
    Endpoint node{test.system, {.node = "n"}};
    auto seen = std::make_shared<Seen>();
    struct Both {
      DatastreamSubscription pulled;
      std::shared_ptr<int> alive;
    };
    auto both = std::make_shared<Both>(Both{node.subscribe("pulled"), alive});
    test.system.spawn([&, seen](caf::event_based_actor* self) -> caf::behavior {
      Subscriber in{self};
      in.subscribe(node.ref(), recording(seen));
      return in.handlers([keep = std::move(both)](int) {});
    });
    REQUIRE(eventually([&] { return seen->has_started(); }));
    watchdog.feed("close");
    CHECK(node.close());
    CHECK(node.ledger().balanced());
  }
  CHECK(eventually([&] { return alive.use_count() == 1; }));
}

TEST_CASE("unsubscribing_twice_is_harmless") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  auto seen = std::make_shared<Seen>();
  const auto reader = test.system.spawn([&node, seen](caf::event_based_actor* self) {
    Subscriber in{self};
    const std::uint64_t first = in.subscribe(node.ref(), [](const EventBatch&) {});
    in.subscribe(node.ref(), recording(seen));
    return in.handlers([in, first](wake_atom) mutable {
      in.unsubscribe(first);
      in.unsubscribe(first);
    });
  });
  REQUIRE(eventually([&] { return node.ledger().fanout.subscribers.size() == 2; }));
  compat::anon_send(reader, wake_atom_v);
  REQUIRE(eventually([&] { return node.ledger().fanout.subscribers.size() == 1; }));
  // The other subscription of the same actor is as before.
  REQUIRE(node.producer().submit_text({1}, "text"));
  CHECK(eventually([&] { return seen->frames() == 1; }));
  CHECK(node.ledger().fanout.subscribers.size() == 1);
  node.close();
  CHECK(eventually([&] { return seen->now().downs == 1; }));
  stop(reader);
}
