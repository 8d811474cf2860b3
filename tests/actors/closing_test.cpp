#include "middleman_test.hpp"
#include "submitting.hpp"
#include "watchdog.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <latch>
#include <random>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

struct Action {
  std::string name;
  std::function<void()> run;
};

} // namespace

TEST_CASE("close_returns_at_its_deadline_when_a_reader_never_acknowledges") {
  Watchdog watchdog(60s);
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  std::latch entered{1};
  std::latch open{1};
  const auto reader =
      test.system.spawn<caf::detached>([&](caf::event_based_actor* self) -> caf::behavior {
        Subscriber in{self};
        in.subscribe(node.ref(), [&, first = true](const EventBatch&) mutable {
          if (std::exchange(first, false)) {
            entered.count_down();
            open.wait();
          }
        });
        return in.handlers();
      });
  REQUIRE(eventually([&] { return node.ledger().fanout.subscribers.size() == 1; }));
  node.producer().submit_text(ChannelId{1}, "x");
  entered.wait();
  watchdog.feed("close");
  const auto begin = std::chrono::steady_clock::now();
  CHECK_FALSE(node.close(200ms));
  const auto took = std::chrono::steady_clock::now() - begin;
  CHECK(took >= 200ms);
  CHECK(took < 10s);
  CHECK_FALSE(node.close(1h)); // the answer of the first time, at once
  CHECK(node.ledger().fanout.departed.abandoned == 1);
  CHECK(node.ledger().balanced());
  open.count_down();
  stop(reader);
  watchdog.feed("the actor system");
}

TEST_CASE("close_waits_for_the_end_to_be_acknowledged_and_answers_the_same_again") {
  TestSystem test;
  auto seen = std::make_shared<Seen>();
  std::optional<Endpoint> node;
  {
    auto system = std::make_unique<TestSystem>();
    node.emplace(system->system, EndpointOptions{.node = "n"});
    const auto reader = system->system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
      Subscriber in{self};
      auto handlers = recording(seen);
      handlers.on_batch = [seen](const EventBatch& batch) {
        std::this_thread::sleep_for(50ms); // takes its time before it acknowledges
        seen->received(batch);
      };
      in.subscribe(node->ref(), handlers);
      return in.handlers();
    });
    REQUIRE(eventually([&] { return seen->has_started(); }));
    bool results[2] = {};
    {
      std::jthread other([&] { results[0] = node->close(1h); });
      results[1] = node->close(1h);
    }
    CHECK(results[0]);
    CHECK(results[1]);
    CHECK(seen->has_ended()); // no frame was sent, so only the end was to be acknowledged
    stop(reader);
  }
  // Closed, it needs its actor system no more.
  node->end_stream();
  CHECK(node->close());
  CHECK(node->ledger().balanced());
  node.reset();
}

TEST_CASE("a_reader_may_close_the_endpoint_in_its_handler") {
  Watchdog watchdog(60s);
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  std::atomic<int> closed = -1;
  std::atomic<int> downs = 0;
  const auto reader =
      test.system.spawn<caf::detached>([&](caf::event_based_actor* self) -> caf::behavior {
        Subscriber in{self};
        in.subscribe(node.ref(), {.on_batch =
                                      [&](const EventBatch&) {
                                        if (closed < 0)
                                          closed = node.close(50ms);
                                      },
                                  .on_down = [&](const caf::error&) { ++downs; }});
        return in.handlers();
      });
  REQUIRE(eventually([&] { return node.ledger().fanout.subscribers.size() == 1; }));
  watchdog.feed("close inside the handler");
  node.producer().submit_text(ChannelId{1}, "x");
  CHECK(eventually([&] { return closed == 0; })); // it could not acknowledge meanwhile
  CHECK(eventually([&] { return downs == 1; }));
  CHECK(node.ledger().balanced());
  stop(reader);
}

TEST_CASE("a_long_health_interval_holds_up_nobody") {
  Watchdog watchdog(20s);
  TestSystem test;
  Endpoint node{test.system, {.node = "n", .health_interval = 1h}};
  auto tail = node.subscribe("tail");
  for (int i = 0; i < 3; ++i) { // falls idle in between
    node.producer().submit_text(ChannelId{1}, "x");
    REQUIRE(tail.recv_for(10s));
    std::this_thread::sleep_for(defaults::idle_after + 5ms);
  }
  watchdog.feed("the actor system");
}

TEST_CASE("close_returns_when_somebody_stops_the_endpoint_s_actor") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  auto tail = node.subscribe("tail");
  node.producer().submit_text(ChannelId{1}, "x");
  stop(node.ref().actor());
  CHECK(eventually([&] { return node.ledger().ended; }));
  CHECK_FALSE(node.close(1h));
  CHECK_FALSE(node.producer().submit_text(ChannelId{1}, "y"));
  CHECK(tail.recv()->frames.size() == 1); // what was accepted was drained
  CHECK(node.ledger().balanced());
}

TEST_CASE("two_processes_may_end_in_any_order") {
  Watchdog watchdog(60s);
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    std::mt19937_64 random(seed);
    RemoteSystem test;
    auto node = std::make_unique<Endpoint>(test.system,
                                           EndpointOptions{.node = "n", .close_deadline = 200ms});
    const auto port = publish(test.system, node->ref(), 0);
    REQUIRE(port);
    watchdog.feed("seed " + std::to_string(seed) + ": the peers' start");
    auto reading = peer("subscribe", std::to_string(*port), "100");
    auto publishing = peer("publish");
    const auto remote = connect(test.system, "127.0.0.1", port_of(*publishing));
    REQUIRE(remote);
    reading->expect("started");
    auto seen = std::make_shared<Seen>();
    auto reader = spawn_recorder(test.system, *remote, seen);
    REQUIRE(eventually([&] { return seen->has_started(); }));
    publishing->write_line("submit 1000");
    Submitting submitting(node->producer());
    std::vector<Action> actions = {
        {"kill the reading process", [&] { reading.reset(); }},
        {"freeze the publishing process",
         [&] {
           if (publishing)
             publishing->freeze();
         }},
        {"kill the publishing process", [&] { publishing.reset(); }},
        {"close the endpoint",
         [&] {
           node->close();
           CHECK(node->ledger().balanced());
           CHECK(outstanding(node->ledger()) == 0);
         }},
        {"stop the reader", [&] { stop(reader); }},
        {"stop submitting", [&] { submitting.stop(); }},
    };
    std::shuffle(actions.begin(), actions.end(), random);
    for (const Action& action : actions) {
      watchdog.feed("seed " + std::to_string(seed) + ": " + action.name);
      action.run();
    }
    node.reset();
    reader = nullptr;
    watchdog.feed("seed " + std::to_string(seed) + ": the actor system");
  }
}
