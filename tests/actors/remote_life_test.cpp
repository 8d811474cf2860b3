// Processes that come, hang, die and come again, and what they leave behind: nothing.
#include "middleman_test.hpp"
#include "process_usage.hpp"
#include "watchdog.hpp"

#include <datastream/actors/fanout_actor.hpp>
#include <datastream/actors/publisher_actor.hpp>
#include <datastream/actors/thread_subscription.hpp>

#include <caf/blocking_actor.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <netinet/in.h>
#include <set>
#include <sys/socket.h>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

/// How often a long test repeats itself: DATASTREAM_TEST_ROUNDS says, else `usual`.
int rounds(int usual) {
  const char* text = std::getenv("DATASTREAM_TEST_ROUNDS");
  return text ? std::atoi(text) : usual;
}

/// One that takes a connection for alive until it is closed: it has no heartbeats, with each of
/// which CAF looks for silent connections. When 0.17.6 opens one in that very moment it forgets to
/// close its socket: about one in a hundred at ten heartbeats a second.
struct TrustingSystem {
  struct TrustingConfig : RemoteConfig {
    TrustingConfig() { compat::set(*this, "middleman.heartbeat-interval", caf::timespan(0)); }
  };
  TrustingConfig config;
  caf::actor_system system{config};
};

/// A port that nobody listens at yet.
std::uint16_t free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  close(socket);
  return ntohs(address.sin_port);
}

RemoteEndpoint impatient(std::uint16_t port, const std::string& name = {}) {
  return {.host = "127.0.0.1",
          .port = port,
          .name = name,
          .timeout = 2s,
          .retry_first = 5ms,
          .retry_most = 20ms};
}

/// A node that is published at a port, under a name unless that is empty.
std::unique_ptr<ChildProcess> node_process(std::uint16_t port, const std::string& name) {
  auto process = peer("publish", std::to_string(port), name);
  REQUIRE(port_of(*process) == port);
  return process;
}
std::unique_ptr<ChildProcess> quick_node_process(std::uint16_t port) {
  auto process = peer("quick", "publish", std::to_string(port));
  REQUIRE(port_of(*process) == port);
  return process;
}

/// What a reader saw of the lives of a node.
class Lives {
public:
  struct Events {
    std::vector<Lifetime> lives; ///< one for each start
    std::uint64_t downs = 0;
    std::uint64_t frames = 0; ///< since the last start
  };
  Events now() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  bool started(std::size_t times) const { return now().lives.size() == times; }
  bool lost(std::uint64_t times) const { return now().downs == times; }

  static SubscriptionHandlers handlers(const std::shared_ptr<Lives>& seen) {
    return {.on_batch =
                [seen](const EventBatch& batch) {
                  const std::lock_guard lock(seen->mutex_);
                  seen->events_.frames += batch.frames.size();
                },
            .on_start =
                [seen](const SubscriptionStart& start) {
                  const std::lock_guard lock(seen->mutex_);
                  seen->events_.lives.push_back(start.starts.at(0).stream.life);
                  seen->events_.frames = 0;
                },
            .on_down =
                [seen](const caf::error& reason) {
                  CHECK(reason);
                  const std::lock_guard lock(seen->mutex_);
                  ++seen->events_.downs;
                }};
  }

private:
  mutable std::mutex mutex_;
  Events events_;
};
using LivesPtr = std::shared_ptr<Lives>;

/// A reader that looks for its stream, as an actor of either kind.
enum class Kind { event_based, blocking };

caf::actor spawn_follower(caf::actor_system& system, Kind kind, const RemoteEndpoint& node,
                          const LivesPtr& seen) {
  if (kind == Kind::event_based)
    return system.spawn([=](caf::event_based_actor* self) -> caf::behavior {
      Subscriber in{self};
      in.subscribe(node, Lives::handlers(seen));
      return in.handlers();
    });
  return system.spawn<caf::detached>([=](caf::blocking_actor* self) {
    Subscriber in{self};
    bool more = true;
    auto deliveries = in.handlers([&](const caf::exit_msg&) { more = false; });
    in.subscribe(node, Lives::handlers(seen));
    self->receive_while([&] { return more; })(deliveries);
  });
}

/// Stands in front of an endpoint, and notes who subscribes. The notes keep nobody alive.
class Door {
public:
  Door(caf::actor_system& system, const EndpointRef& node)
      : actor_(system.spawn([this, node](caf::event_based_actor* self) -> caf::behavior {
          return {
              [=, this](subscribe_atom ask, const Subscribe& request, const caf::actor& reader) {
                const std::lock_guard lock(mutex_);
                readers_.push_back(reader.address());
                return compat::delegate(self, node.actor(), ask, request, reader);
              },
              [=](acknowledge_atom say, SubscriptionId id, std::uint64_t sequence) {
                return compat::delegate(self, node.actor(), say, id, sequence);
              },
          };
        })) {}
  ~Door() { stop(actor_); }

  const caf::actor& actor() const { return actor_; }
  std::size_t passed() const {
    const std::lock_guard lock(mutex_);
    return readers_.size();
  }
  /// How many of those that passed are still there, dead or alive.
  std::size_t present() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::ranges::count_if(
        readers_, [](const auto& reader) { return bool(caf::actor_cast<caf::actor>(reader)); }));
  }

private:
  mutable std::mutex mutex_;
  std::vector<caf::actor_addr> readers_;
  caf::actor actor_;
};

/// Checks that a process comes back to `before`, but for what an allocator may keep, and for
/// sockets that CAF forgets. Soon, if not at once: who looks for a node has a socket at each
/// attempt.
void check_no_growth(const ProcessUsage& before, std::ptrdiff_t forgotten = 0,
                     const std::string& process = "self") {
  ProcessUsage now;
  CHECK(eventually([&] {
    now = ProcessUsage::now(process);
    return now.files <= before.files + forgotten && now.threads <= before.threads;
  }));
  MESSAGE("before: ", before, "; after: ", now);
  if (memory_is_ours)
    CHECK(now.resident <= before.resident + (2U << 20U));
}

} // namespace

TEST_CASE("a_subscriber_may_come_before_its_node_and_finds_every_life_of_it") {
  for (const Kind kind : {Kind::event_based, Kind::blocking})
    for (const std::string name : {"", "peer"}) {
      RemoteSystem test;
      const auto port = free_port();
      auto seen = std::make_shared<Lives>();
      const auto reader = spawn_follower(test.system, kind, impatient(port, name), seen);
      CHECK_FALSE(eventually([&] { return seen->started(1); }, 100ms)); // some attempts have failed
      CHECK(seen->now().downs == 0);
      for (std::uint64_t life = 1; life <= 3; ++life) {
        auto process = node_process(port, name);
        REQUIRE(eventually([&] { return seen->started(life); }));
        process->write_line("submit 10");
        REQUIRE(eventually([&] { return seen->now().frames == 10; }));
        process->signal(SIGKILL);
        REQUIRE(eventually([&] { return seen->lost(life); }));
      }
      const auto lives = seen->now().lives;
      CHECK(std::set(lives.begin(), lives.end()).size() == 3);
      stop(reader);
    }
}

TEST_CASE("reading_processes_that_are_killed_leave_nothing_behind") {
  Watchdog watchdog(60s);
  TrustingSystem test;
  Endpoint node{test.system, {.node = "n"}};
  Door door{test.system, node.ref()};
  const auto port = publish(test.system, door.actor(), 0);
  REQUIRE(port);
  const auto out = node.producer();
  const int warm_up = 20;
  const int all = warm_up + rounds(100);
  ProcessUsage before;
  for (int round = 0; round < all; ++round) {
    watchdog.feed("round " + std::to_string(round));
    {
      const auto process = peer("follow", std::to_string(*port));
      process->expect("started");
      process->freeze();
      for (int i = 0; i < 100; ++i)
        CHECK(out.submit_text(ChannelId{1}, "x"));
      REQUIRE(eventually([&] { return node.ledger().in_mux == 0; }));
      process->signal(SIGKILL);
      REQUIRE(eventually([&] { return node.ledger().fanout.subscribers.empty(); }));
    }
    REQUIRE(eventually([&] { return door.present() == 0; }));
    if (round == warm_up)
      before = ProcessUsage::now();
  }
  CHECK(door.passed() == static_cast<std::size_t>(all));
  check_no_growth(before);
  const auto ledger = node.ledger();
  CHECK(ledger.balanced());
  CHECK(ledger.fanout.departed.offered == static_cast<std::uint64_t>(all) * 100);
  CHECK(ledger.fanout.departed.abandoned == static_cast<std::uint64_t>(all) * 100);
}

TEST_CASE("node_processes_that_are_killed_leave_nothing_behind") {
  Watchdog watchdog(60s);
  TrustingSystem test;
  const auto port = free_port();
  Publisher publisher{test.system}; // passes the node on, under a name of its own
  auto seen = std::make_shared<Lives>();
  const auto reader = spawn_follower(test.system, Kind::event_based, impatient(port, "peer"), seen);
  const auto offered = [&] {
    return ask<OfferedNames>(test.system, publisher.actor(), names_atom_v).value().names;
  };
  const int warm_up = 20;
  const int all = warm_up + rounds(100);
  ProcessUsage before;
  for (int round = 0; round < all; ++round) {
    watchdog.feed("round " + std::to_string(round));
    const auto life = static_cast<std::size_t>(round + 1);
    EndpointRef ref;
    {
      const auto process = node_process(port, "peer");
      REQUIRE(eventually([&] { return seen->started(life); }));
      const auto found = connect(test.system, impatient(port, "peer"));
      REQUIRE(found);
      ref = *found;
      REQUIRE(publisher.offer("far", ref));
      process->write_line("submit 100");
      REQUIRE(eventually([&] { return seen->now().frames == 100; }));
      process->signal(SIGKILL);
      REQUIRE(eventually([&] { return seen->lost(life); }));
    }
    REQUIRE(eventually([&] { return offered().empty(); }));
    REQUIRE(eventually([&] { return !ref.actor(); }));
    if (round == warm_up)
      before = ProcessUsage::now();
  }
  const auto lives = seen->now().lives;
  CHECK(std::set(lives.begin(), lives.end()).size() == static_cast<std::size_t>(all));
  check_no_growth(before);
  stop(reader);
}

TEST_CASE("processes_that_freeze_are_noticed_in_time_and_leave_nothing_behind") {
  Watchdog watchdog(60s);
  QuickSystem test;
  Endpoint node{test.system, {.node = "n"}};
  Door door{test.system, node.ref()};
  const auto port = publish(test.system, door.actor(), 0);
  REQUIRE(port);
  const auto remote_port = free_port();
  auto seen = std::make_shared<Lives>();
  const auto reader = spawn_follower(test.system, Kind::event_based, impatient(remote_port), seen);
  const int warm_up = 2;
  const int all = warm_up + rounds(10);
  ProcessUsage before;
  std::chrono::steady_clock::duration longest{};
  for (int round = 0; round < all; ++round) {
    watchdog.feed("round " + std::to_string(round));
    const auto life = static_cast<std::size_t>(round + 1);
    EndpointRef ref;
    {
      const auto reading = peer("quick", "follow", std::to_string(*port));
      const auto publishing = quick_node_process(remote_port);
      reading->expect("started");
      REQUIRE(eventually([&] { return seen->started(life); }));
      const auto found = connect(test.system, impatient(remote_port));
      REQUIRE(found);
      ref = *found;
      const auto frozen = std::chrono::steady_clock::now();
      reading->freeze();
      publishing->freeze();
      REQUIRE(
          eventually([&] { return seen->lost(life) && node.ledger().fanout.subscribers.empty(); }));
      longest = std::max(longest, std::chrono::steady_clock::now() - frozen);
    }
    REQUIRE(eventually([&] { return !ref.actor() && door.present() == 0; }));
    if (round == warm_up)
      before = ProcessUsage::now();
  }
  MESSAGE("noticed after at most ",
          std::chrono::duration_cast<std::chrono::milliseconds>(longest).count(), " ms");
  // A silence is looked for once in a heartbeat. The rest is for a busy machine.
  CHECK(longest < quick_timeout + 2 * quick_heartbeat + 400ms);
  CHECK(node.ledger().balanced());
  check_no_growth(before, 3 + all / 20); // see TrustingSystem
  stop(reader);
}

TEST_CASE("looking_for_a_node_that_hangs_leaves_nothing_behind") {
  Watchdog watchdog(60s);
  QuickSystem test;
  const auto port = free_port();
  auto process = quick_node_process(port);
  auto seen = std::make_shared<Lives>();
  const auto reader = spawn_follower(test.system, Kind::event_based, impatient(port), seen);
  REQUIRE(eventually([&] { return seen->started(1); }));
  const auto before = ProcessUsage::now();
  process->freeze();
  REQUIRE(eventually([&] { return seen->lost(1); }));
  // Its machine accepts connections in its place, and nobody ever answers.
  CHECK_FALSE(eventually([&] { return seen->started(2); }, 2s));
  process->signal(SIGCONT);
  REQUIRE(eventually([&] { return seen->started(2); }));
  check_no_growth(before, 3); // see TrustingSystem
  stop(reader);
}

TEST_CASE("processes_that_hang_for_a_while_find_each_other_again") {
  Watchdog watchdog(60s);
  QuickSystem test;
  Endpoint node{test.system, {.node = "n"}};
  const auto port = publish(test.system, node.ref(), 0);
  REQUIRE(port);
  const auto reading = peer("quick", "follow", std::to_string(*port));
  const auto remote_port = free_port();
  const auto publishing = quick_node_process(remote_port);
  auto seen = std::make_shared<Lives>();
  const auto reader = spawn_follower(test.system, Kind::event_based, impatient(remote_port), seen);
  reading->expect("started");
  REQUIRE(eventually([&] { return seen->started(1); }));
  for (std::size_t round = 1; round <= 3; ++round) {
    watchdog.feed("round " + std::to_string(round));
    reading->freeze();
    publishing->freeze();
    REQUIRE(
        eventually([&] { return seen->lost(round) && node.ledger().fanout.subscribers.empty(); }));
    reading->signal(SIGCONT);
    publishing->signal(SIGCONT);
    reading->expect("down");
    reading->expect("started");
    REQUIRE(eventually([&] { return seen->started(round + 1); }));
    publishing->write_line("submit 10");
    REQUIRE(eventually([&] { return seen->now().frames == 10; }));
    CHECK(seen->now().lives.back() == seen->now().lives.front());
    CHECK(node.ledger().fanout.subscribers.size() == 1);
  }
  CHECK(node.ledger().balanced());
  stop(reader);
}

TEST_CASE("what_is_asked_of_a_node_that_hangs_fails_when_the_connection_breaks") {
  Watchdog watchdog(20s);
  QuickSystem test;
  const auto process = peer("quick", "publish");
  const auto node = connect(test.system, "127.0.0.1", port_of(*process));
  REQUIRE(node);
  // One has subscribed, and leaves while the node hangs.
  std::atomic<bool> subscribed = false;
  std::atomic<bool> left = false;
  const auto leaving = test.system.spawn<caf::detached>([&](caf::blocking_actor* self) {
    Subscriber in{self};
    const auto number = in.subscribe(*node, [](const EventBatch&) {});
    subscribed = true;
    self->receive([](int) {});
    in.unsubscribe(number);
    left = true;
  });
  REQUIRE(eventually([&] { return subscribed.load(); }));
  process->freeze();
  compat::anon_send(leaving, 1);
  // Others subscribe in vain: an actor, and a thread.
  auto seen = std::make_shared<Seen>();
  const auto reader = spawn_recorder(test.system, *node, seen);
  watchdog.feed("a thread's subscription");
  const auto subscription = ThreadSubscription::open(test.system, *node);
  REQUIRE_FALSE(subscription);
  CHECK(subscription.error());
  CHECK(eventually([&] { return seen->now().downs == 1; }));
  CHECK(seen->now().reason);
  CHECK_FALSE(seen->has_started());
  CHECK(eventually([&] { return left.load(); }));
  // The actor that reads goes on, and keeps nothing of the node.
  CHECK(eventually([&] { return !node->actor(); }));
  stop(reader);
}

TEST_CASE(
    "a_collector_whose_fanout_hangs_elsewhere_is_told_when_the_connection_breaks_and_goes_on") {
  Watchdog watchdog(20s);
  QuickSystem test;
  const auto process = peer("quick", "publish");
  const auto elsewhere = connect(test.system, "127.0.0.1", port_of(*process));
  REQUIRE(elsewhere);
  process->freeze();
  Endpoint node{test.system, {.node = "node"}};
  std::atomic<int> downs = 0;
  std::atomic<bool> started = false;
  const auto collects = test.system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    Subscriber in{self};
    in.subscribe(node.ref(), republish(self, elsewhere->actor(),
                                       {.on_start = [&](const auto&) { started = true; }},
                                       [&](const caf::error&) { ++downs; }));
    return in.handlers();
  });
  REQUIRE(eventually([&] { return started.load(); }));
  REQUIRE(node.producer().submit_text(ChannelId{1}, "on its way"));
  CHECK(eventually([&] { return downs == 1; }));
  REQUIRE(node.producer().submit_text(ChannelId{1}, "for nobody"));
  CHECK(node.close(10s)); // all is acknowledged
  CHECK(downs == 1);
  stop(collects);
}

TEST_CASE("a_hundred_thousand_subscriptions_cost_no_memory_on_either_side") {
  Watchdog watchdog(120s);
  RemoteSystem test;
  const auto process = peer("publish");
  const auto node = connect(test.system, "127.0.0.1", port_of(*process));
  REQUIRE(node);
  // Several at once; every second one leaves before it is answered.
  constexpr int at_once = 50;
  struct Goal {
    std::atomic<std::uint64_t> left = 0; // subscriptions yet to be made
    std::atomic<int> done = 0;           // chains that have no more to make
  } goal;
  const auto reader = test.system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    Subscriber in{self};
    return in.handlers([=, &goal](int chain) mutable {
      const auto left = goal.left.load();
      if (left == 0) {
        ++goal.done;
        return;
      }
      goal.left = left - 1;
      const auto go_on = [=] { compat::send(self, caf::actor(self), chain); };
      auto number = std::make_shared<std::uint64_t>();
      *number = in.subscribe(*node, {.on_batch = [](const EventBatch&) {},
                                     .on_start =
                                         [=](const SubscriptionStart&) mutable {
                                           in.unsubscribe(*number);
                                           go_on();
                                         }});
      if (left % 2) {
        in.unsubscribe(*number);
        go_on();
      }
    });
  });
  const auto subscribe = [&](std::uint64_t times) {
    goal.done = 0;
    goal.left = times;
    for (int chain = 0; chain < at_once; ++chain)
      compat::anon_send(reader, chain);
    REQUIRE(eventually([&] { return goal.done == at_once; }, 60s));
    const auto settled = [&] {
      const auto ledger = ask<PipeLedger>(test.system, node->actor(), ledger_atom_v);
      REQUIRE(ledger);
      CHECK(ledger->balanced());
      return ledger->fanout.subscribers.empty();
    };
    REQUIRE(eventually(settled));
  };
  const std::uint64_t times = memory_is_ours ? 100'000 : 20'000;
  const std::string other = std::to_string(process->id());
  watchdog.feed("warm-up");
  subscribe(times / 5);
  const auto here = ProcessUsage::now();
  const auto there = ProcessUsage::now(other);
  watchdog.feed("subscribing");
  const auto begin = std::chrono::steady_clock::now();
  subscribe(times);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  MESSAGE(times, " subscriptions in ", took.count(), " s");
  check_no_growth(here);
  check_no_growth(there, 0, other);
  stop(reader);
}
