// Everything that a program may hold of us, let go of in every order.
#include "middleman_test.hpp"
#include "submitting.hpp"
#include "watchdog.hpp"

#include <datastream/actors/consumer_actor.hpp>
#include <datastream/actors/fanout_actor.hpp>
#include <datastream/actors/publisher_actor.hpp>
#include <datastream/actors/thread_subscription.hpp>
#include <datastream/caf/thread_logger.hpp>

#include <caf/blocking_actor.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <future>
#include <latch>
#include <random>
#include <thread>
#include <type_traits>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

/// How many orders are tried: DATASTREAM_TEST_ORDERS says, else a thousand.
std::uint64_t orders() {
  const char* text = std::getenv("DATASTREAM_TEST_ORDERS");
  return text ? std::strtoull(text, nullptr, 10) : 1000;
}

struct Action {
  std::string name;
  std::function<void()> run;
};

/// What a reader does in one of its deliveries.
enum class Whim { nothing, unsubscribe, quit, fail, end_stream };

/// An event-based reader, by handle or over the network.
template <class Where>
caf::behavior moody(caf::event_based_actor* self, const Where& node, Whim whim, std::uint64_t at) {
  Subscriber in{self};
  auto number = std::make_shared<std::uint64_t>();
  *number = in.subscribe(node, [=, count = std::uint64_t{0}](const EventBatch&) mutable {
    if (++count != at)
      return;
    if (whim == Whim::unsubscribe)
      in.unsubscribe(*number);
    else if (whim == Whim::quit)
      self->quit();
    else if (whim == Whim::fail)
      throw std::runtime_error("a moody reader");
    else if (whim == Whim::end_stream)
      if constexpr (std::is_same_v<Where, EndpointRef>)
        compat::anon_send(node.actor(), end_atom_v);
  });
  return in.handlers();
}

/// A reader that receives by itself, until it is stopped or has had enough.
void patient(caf::blocking_actor* self, const EndpointRef& node, std::uint64_t enough) {
  Subscriber in{self};
  bool stopped = false;
  std::uint64_t had = 0;
  auto deliveries = in.handlers([&](const caf::exit_msg&) { stopped = true; });
  in.subscribe(node, [&](const EventBatch&) { ++had; });
  self->receive_while([&] { return !stopped && had < enough; })(deliveries);
}

/// Passes a node on to a fanout.
caf::behavior passing_on(caf::event_based_actor* self, const EndpointRef& node,
                         const caf::actor& fanout) {
  Subscriber in{self};
  in.subscribe(node, republish(self, fanout));
  return in.handlers();
}

/// A thread that reads until it is stopped or nothing comes any more.
class ReadingThread {
public:
  ReadingThread(caf::actor_system& system, const EndpointRef& node)
      : in_(ThreadSubscription::open(system, node)), thread_([this](const std::stop_token& stop) {
          while (in_ && in_->recv(stop)) {
          }
        }) {}

private:
  std::expected<ThreadSubscription, caf::error> in_; // outlives the thread
  std::jthread thread_;
};

/// An actor system with a thread of its own, which makes it and destroys it, as a program's main
/// thread does: CAF 0.17.6 wants both done by the same.
template <class System>
class Home {
public:
  Home()
      : thread_([this] {
          System made;
          made_.set_value(&made.system);
          end_.get_future().wait();
        }),
        system_(*made_.get_future().get()) {}

  caf::actor_system& system() { return system_; }
  /// Begins to destroy the system, which waits for everybody who lives in it.
  void end() { end_.set_value(); }
  void wait() { thread_.join(); }

private:
  std::promise<caf::actor_system*> made_;
  std::promise<void> end_;
  std::jthread thread_;
  caf::actor_system& system_;
};

/// A program that holds one of everything. Its parts are let go of by its actions, in any order; of
/// the actor system as soon as nobody is left who needs it, while actors still live in it, or last.
class Program {
public:
  /// Some of them have a reader in a system `elsewhere`, over the network.
  Program(std::uint64_t seed, caf::actor_system& elsewhere) : random_(seed) {
    if (one_in(4))
      remote_.emplace();
    else
      local_.emplace();
    caf::actor_system& system = remote_ ? remote_->system() : local_->system();
    const compat::ThreadLogger thread(system); // spawns
    const auto end =
        std::shared_ptr<void>(nullptr, [this](void*) { remote_ ? remote_->end() : local_->end(); });
    without_endpoint_ = without_publisher_ = without_thread_ = end;
    if (one_in(2))
      to_the_last_ = end;
    const auto fanout_placement =
        one_in(2) ? FanoutPlacement::own_actor : FanoutPlacement::in_endpoint;
    node_.emplace(system,
                  EndpointOptions{.node = "n", .fanout = fanout_placement, .close_deadline = 20ms});
    late_.emplace(node_->producer());
    submitting_.emplace(node_->producer());
    pulled_ = node_->subscribe("pulled");
    publisher_.emplace(system);
    CHECK(publisher_->offer("n", node_->ref()));
    fanout_ = spawn_fanout(system);
    refs_ = {node_->ref(), EndpointRef(fanout_), EndpointRef(publisher_->actor())};
    collector_ = system.spawn(passing_on, node_->ref(), fanout_);
    for (caf::actor& reader : readers_)
      reader = system.spawn(moody<EndpointRef>, refs_[random_() % 2], whim(), 1 + random_() % 5);
    blocking_ = system.spawn<caf::detached>(patient, refs_[random_() % 2], 1 + random_() % 20);
    reading_.emplace(system, refs_[random_() % 2]);
    system.spawn<caf::detached>([this](caf::blocking_actor*) { handles_in_use_.wait(); });
    consumer_ = spawn_consumer(system);
    compat::anon_send(consumer_, follow_atom_v, node_->ref().actor());
    if (remote_) {
      const auto port = publish(system, publisher_->actor(), 0);
      REQUIRE(port);
      const RemoteEndpoint where{.host = "127.0.0.1", .port = *port, .name = "n", .timeout = 100ms};
      far_ = elsewhere.spawn(moody<RemoteEndpoint>, where, whim(), 3);
    }
  }

  /// What the thread does that owns the node.
  std::vector<Action> owners() {
    std::vector<Action> actions = {
        {"end the stream", [this] { if_open([&] { node_->end_stream(); }); }},
        {"move the endpoint", [this] { if_open([&] { node_ = Endpoint(std::move(*node_)); }); }},
        {"close the endpoint",
         [this] {
           if_open([&] { node_->close(); });
           without_endpoint_.reset();
         }},
        {"withdraw the offer", [this] { if_published([&] { publisher_->withdraw("n"); }); }},
        {"destroy the publisher",
         [this] {
           publisher_.reset();
           without_publisher_.reset();
         }},
    };
    if (one_in(2))
      actions.push_back({"destroy the endpoint", [this] { node_.reset(); }});
    std::ranges::shuffle(actions, random_);
    return actions;
  }

  /// What another thread does meanwhile, or before.
  std::vector<Action> others() {
    std::vector<Action> actions = {
        {"stop a reader", [this] { let_go(readers_[0], caf::exit_reason::user_shutdown); }},
        {"kill a reader", [this] { let_go(readers_[1], caf::exit_reason::kill); }},
        {"forget a reader", [this] { readers_[2] = nullptr; }},
        {"stop a blocking reader", [this] { let_go(blocking_); }},
        {"stop a reading thread",
         [this] {
           reading_.reset();
           without_thread_.reset();
         }},
        {"stop the consumer", [this] { let_go(consumer_); }},
        {"stop the collector", [this] { let_go(collector_); }},
        {"stop the fanout", [this] { let_go(fanout_); }},
        {"stop the reader elsewhere", [this] { let_go(far_); }},
        {"take from the subscription", [this] { pulled_->drain_available(); }},
        {"leave the subscription", [this] { pulled_->unsubscribe(); }},
        {"stop submitting", [this] { submitting_->stop(); }},
    };
    std::ranges::shuffle(actions, random_);
    return actions;
  }

  bool one_in(std::uint64_t times) { return random_() % times == 0; }

  /// After all the actions. The actor system ends by itself then.
  void check_the_end() {
    to_the_last_.reset();
    remote_ ? remote_->wait() : local_->wait();
    for (const EndpointRef& ref : refs_) {
      CHECK(ref); // it still names somebody, of whom nothing is left
      CHECK_FALSE(ref.actor());
    }
    CHECK_FALSE(late_->submit_text(ChannelId{1}, "late"));
    if (!node_)
      return;
    const auto ledger = node_->ledger(); // also without an actor system
    CHECK(ledger.balanced());
    CHECK(ledger.ended);
    CHECK(ledger.fanout.subscribers.empty());
    CHECK(ledger.in_mux == 0);
    CHECK(ledger.in_transit == 0);
    CHECK(ledger.assigned == submitting_->accepted);
    CHECK(ledger.refused.total() == submitting_->refused + 1);
  }

private:
  Whim whim() { return static_cast<Whim>(random_() % 5); }

  void if_open(const std::function<void()>& run) {
    if (node_)
      run();
  }
  void if_published(const std::function<void()>& run) {
    if (publisher_)
      run();
  }
  void let_go(caf::actor& actor, caf::exit_reason reason = caf::exit_reason::user_shutdown) {
    if (const auto last = std::exchange(actor, nullptr))
      caf::anon_send_exit(last, reason);
    handles_in_use_.count_down();
  }

  std::mt19937_64 random_;
  std::vector<EndpointRef> refs_;          // these outlive everything
  std::optional<DatastreamProducer> late_; // so does this
  // One for each actor that is let go of. The system may have begun to end by then, but not more:
  // on CAF 1.x a message to an actor that has ended touches its system.
  std::latch handles_in_use_{7};
  std::optional<Home<TestSystem>> local_;    // one
  std::optional<Home<RemoteSystem>> remote_; // or the other
  std::optional<Endpoint> node_;
  std::optional<Submitting> submitting_;
  std::optional<DatastreamSubscription> pulled_;
  std::optional<Publisher> publisher_;
  caf::actor fanout_;
  caf::actor collector_;
  std::array<caf::actor, 3> readers_;
  caf::actor blocking_;
  std::optional<ReadingThread> reading_;
  caf::actor consumer_;
  caf::actor far_;
  // Whoever resets the last of these begins to destroy the actor system.
  std::shared_ptr<void> without_endpoint_;
  std::shared_ptr<void> without_publisher_;
  std::shared_ptr<void> without_thread_;
  std::shared_ptr<void> to_the_last_;
};

} // namespace

TEST_CASE("everything_may_be_let_go_of_in_any_order") {
  Watchdog watchdog(60s);
  RemoteSystem elsewhere;
  const std::uint64_t all = orders();
  for (std::uint64_t seed = 0; seed < all; ++seed) {
    const auto step = [&](const std::string& name) {
      watchdog.feed("seed " + std::to_string(seed) + ": " + name);
    };
    step("start");
    Program program(seed, elsewhere.system);
    const auto run = [&](const std::vector<Action>& actions) {
      for (const Action& action : actions) {
        step(action.name);
        action.run();
      }
    };
    const auto owners = program.owners();
    const auto others = program.others();
    const bool others_first = program.one_in(4);
    {
      std::jthread second([&] { run(others); });
      if (others_first)
        second.join();
      run(owners);
    }
    step("the end of the actor system");
    program.check_the_end();
  }
}

TEST_CASE("a_reference_keeps_no_actor_system_from_ending") {
  Watchdog watchdog(20s);
  EndpointRef closed;
  EndpointRef stopped;
  {
    TestSystem test;
    Endpoint node{test.system, {.node = "n", .fanout = FanoutPlacement::own_actor}};
    closed = node.ref();
    auto fanout = spawn_fanout(test.system);
    stopped = EndpointRef(fanout);
    CHECK(closed.actor());
    CHECK(stopped.actor() == fanout);
    stop(std::exchange(fanout, nullptr));
    watchdog.feed("the actor system");
  }
  CHECK_FALSE(closed.actor());
  CHECK_FALSE(stopped.actor());
  CHECK(EndpointRef(closed));
}
