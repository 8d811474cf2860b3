#include "middleman_test.hpp"
#include "watchdog.hpp"

#include <datastream/actors/consumer_actor.hpp>

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

/// What a reader does in one of its deliveries.
enum class Whim { nothing, unsubscribe, quit, fail, end_stream };

caf::behavior moody(caf::event_based_actor* self, const EndpointRef& node, Whim whim,
                    std::uint64_t at, const std::function<void()>& end_stream) {
  Subscriber in{self};
  auto token = std::make_shared<std::uint64_t>();
  *token = in.subscribe(node, [=, count = std::uint64_t{0}](const EventBatch&) mutable {
    if (++count != at)
      return;
    if (whim == Whim::unsubscribe)
      in.unsubscribe(*token);
    else if (whim == Whim::quit)
      self->quit();
    else if (whim == Whim::fail)
      throw std::runtime_error("a moody reader");
    else if (whim == Whim::end_stream)
      end_stream();
  });
  return in.handlers();
}

/// A thread that submits until it is stopped, and counts what it was told.
class Submitting {
public:
  explicit Submitting(DatastreamProducer out)
      : out_(std::move(out)), thread_([this](std::stop_token stop) {
          while (!stop.stop_requested())
            for (int i = 0; i < 10; ++i)
              ++(out_.submit_text(ChannelId{1}, "text") ? accepted : refused);
        }) {}
  void stop() {
    thread_.request_stop();
    if (thread_.joinable())
      thread_.join();
  }
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;

private:
  DatastreamProducer out_;
  std::jthread thread_;
};

} // namespace

TEST_CASE("everything_may_be_closed_in_any_order") {
  Watchdog watchdog(60s);
  for (std::uint64_t seed = 0; seed < 250; ++seed) {
    std::mt19937_64 random(seed);
    TestSystem test;
    auto node = std::make_unique<Endpoint>(test.system,
                                           EndpointOptions{.node = "n", .close_deadline = 20ms});
    const DatastreamProducer out = node->producer();
    Submitting submitting(out);
    std::optional<DatastreamSubscription> pulled = node->subscribe("pulled");
    std::vector<caf::actor> readers;
    for (int i = 0; i < 3; ++i)
      readers.push_back(
          test.system.spawn(moody, node->ref(), static_cast<Whim>(random() % 5), 1 + random() % 5,
                            // The endpoint outlives this reader's deliveries only
                            // while it is open: end by message.
                            [to = node->ref().actor()] { compat::anon_send(to, end_atom_v); }));
    caf::actor consumer = spawn_consumer(test.system);
    compat::anon_send(consumer, follow_atom_v, node->ref().actor());
    std::optional<PipeLedger> ledger;

    std::vector<Action> owner = {
        {"end the stream",
         [&] {
           if (node)
             node->end_stream();
         }},
        {"close the endpoint",
         [&] {
           if (node) {
             node->close();
             ledger = node->ledger();
           }
         }},
        {"destroy the endpoint", [&] { node.reset(); }},
    };
    std::vector<Action> others = {
        {"stop a reader", [&] { stop(readers[0]); }},
        {"kill a reader", [&] { caf::anon_send_exit(readers[1], caf::exit_reason::kill); }},
        {"forget a reader", [&] { readers[2] = nullptr; }},
        {"stop the consumer", [&] { stop(consumer); }},
        {"drop the subscription", [&] { pulled.reset(); }},
        {"take from the subscription",
         [&] {
           if (pulled)
             pulled->drain_available();
         }},
    };
    std::shuffle(owner.begin(), owner.end(), random);
    std::shuffle(others.begin(), others.end(), random);
    const bool submit_to_the_end = random() % 2;
    const auto run = [&](const std::vector<Action>& actions) {
      for (const Action& action : actions) {
        watchdog.feed("seed " + std::to_string(seed) + ": " + action.name);
        action.run();
      }
    };
    {
      std::jthread second([&] { run(others); });
      if (random() % 4 == 0)
        second.join();
      run(owner);
    }
    if (!submit_to_the_end)
      submitting.stop();
    watchdog.feed("seed " + std::to_string(seed) + ": the producer's end");
    // Producers outlive it all: refused, and counted by them and by us.
    CHECK_FALSE(out.submit_text(ChannelId{1}, "late"));
    submitting.stop();
    if (ledger) {
      CHECK(ledger->balanced());
      for (const SubscriberLedger& entry : ledger->fanout.subscribers)
        CHECK(entry.name == "pulled"); // what it has queued stays readable
      CHECK(ledger->in_mux == 0);
      CHECK(ledger->ended);
      CHECK(ledger->assigned == submitting.accepted);
      CHECK(ledger->refused.total() <= submitting.refused);
    }
    readers.clear();
    consumer = nullptr;
    watchdog.feed("seed " + std::to_string(seed) + ": the actor system");
  }
}

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
