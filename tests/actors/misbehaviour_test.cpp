// Programs that block CAF's workers, or throw: what is ours goes on.
#include "actor_test.hpp"
#include "log_recorder.hpp"
#include "watchdog.hpp"

#include <datastream/actors/consumer_actor.hpp>
#include <datastream/actors/fanout_actor.hpp>
#include <datastream/actors/publisher_actor.hpp>
#include <datastream/actors/thread_subscription.hpp>
#include <datastream/caf/send.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <latch>
#include <stdexcept>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

constexpr SubscriberCapacity roomy{1U << 20U, 64U << 20U};

/// Keeps all workers of a system from working while it exists.
class BlockedWorkers {
public:
  BlockedWorkers(caf::actor_system& system, int workers)
      : latches_(std::make_shared<Latches>(workers)) {
    for (int i = 0; i < workers; ++i) {
      const auto blocker =
          system.spawn([latches = latches_](caf::event_based_actor* self) -> caf::behavior {
            return {[=](int) {
              latches->blocked.count_down();
              latches->release.wait();
              self->quit();
            }};
          });
      compat::anon_send(blocker, 1);
    }
    latches_->blocked.wait();
  }
  ~BlockedWorkers() { latches_->release.count_down(); }

private:
  struct Latches {
    explicit Latches(int workers) : blocked(workers) {}
    std::latch blocked;
    std::latch release{1};
  };
  std::shared_ptr<Latches> latches_; // shared with the blockers, which leave later
};

/// Emits for a second, more than a mux holds. Returns how many frames; the mux had room for all.
std::uint64_t emit_for_a_second(const DatastreamProducer& out) {
  const auto end = std::chrono::steady_clock::now() + 1s;
  std::uint64_t sent = 0;
  while (std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < 20; ++i)
      sent += out.submit_text(ChannelId{1}, "work");
    std::this_thread::sleep_for(1ms);
  }
  CHECK(sent > defaults::mux_frames);
  return sent;
}

/// Takes so many frames from a subscription of a thread, whatever its kind.
template <class Subscription>
void take_all(Subscription& in, std::uint64_t sent) {
  std::uint64_t received = 0;
  while (received < sent) {
    const auto batch = in.recv_for(10s);
    REQUIRE(batch);
    CHECK(batch->dropped == 0);
    received += batch->frames.size();
  }
  CHECK(received == sent);
}

/// Whoever offers a stream: an endpoint, or a fanout behind one.
struct Source {
  explicit Source(FanoutPlacement placement, bool behind_a_fanout = false)
      : node(test.system, {.node = "n", .fanout = placement}), ref(node.ref()) {
    if (!behind_a_fanout)
      return;
    fanout = spawn_fanout(test.system);
    ref = EndpointRef(fanout);
    auto seen = std::make_shared<Seen>();
    collector = test.system.spawn<caf::detached>([&](caf::event_based_actor* self) {
      Subscriber in{self};
      in.subscribe(node.ref(), republish(self, fanout, recording(seen)), {.capacity = roomy});
      return in.handlers();
    });
    REQUIRE(eventually([&] { return seen->has_started(); }));
  }
  ~Source() {
    if (fanout) {
      stop(std::exchange(collector, nullptr));
      stop(std::exchange(fanout, nullptr));
    }
  }

  TestSystem test{2};
  Endpoint node;
  EndpointRef ref;
  caf::actor fanout;
  caf::actor collector;
};

void each_source(const std::function<void(Source&)>& run) {
  for (const auto placement : {FanoutPlacement::in_endpoint, FanoutPlacement::own_actor})
    for (const bool behind_a_fanout : {false, true}) {
      Source source(placement, behind_a_fanout);
      run(source);
    }
}

} // namespace

TEST_CASE("a_program_that_blocks_all_workers_loses_no_frame") {
  Watchdog watchdog(60s);
  each_source([](Source& source) {
    auto pulled = source.node.subscribe("pulled", SubscriptionRequest::all(), roomy);
    auto read = ThreadSubscription::open(source.test.system, source.ref, {.capacity = roomy});
    REQUIRE(read);
    const BlockedWorkers blocked(source.test.system, 2);
    const auto sent = emit_for_a_second(source.node.producer());
    take_all(pulled, sent);
    take_all(*read, sent);
    CHECK(source.node.ledger().refused.total() == 0);
  });
}

TEST_CASE("an_exception_in_any_handler_ends_that_actor_and_nothing_of_ours") {
  Watchdog watchdog(60s);
  const auto fail = [](auto&&...) { throw std::runtime_error("a handler of the program"); };
  const auto ignore = [](const EventBatch&) {};
  const std::vector<SubscriptionHandlers> all = {
      {.on_batch = fail},
      {.on_delivery = fail},
      {.on_batch = ignore, .on_start = fail},
      {.on_batch = ignore, .on_down = fail},
  };
  each_source([&](Source& source) {
    caf::actor_system& system = source.test.system;
    const auto out = source.node.producer();
    auto seen = std::make_shared<Seen>();
    const auto healthy = spawn_recorder(system, source.ref, seen);
    REQUIRE(eventually([&] { return seen->has_started(); }));
    std::uint64_t sent = 0;
    for (const SubscriptionHandlers& handlers : all) {
      Endpoint dying{system, {.node = "dying"}};
      const auto bad = system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
        Subscriber in{self};
        in.subscribe(handlers.on_down ? dying.ref() : source.ref, handlers);
        return in.handlers();
      });
      std::atomic<bool> ended = false;
      bad->attach_functor([&] { ended = true; });
      dying.close();
      CHECK(eventually([&] { // with the first delivery that reaches it, at the latest
        sent += out.submit_text(ChannelId{1}, "x");
        return ended.load();
      }));
    }
    CHECK(eventually([&] { return seen->frames() == sent; }));
    CHECK(seen->now().downs == 0);
    CHECK(source.node.ledger().balanced());
    CHECK(source.node.ledger().fanout.subscribers.size() == 1); // those that threw are gone
    stop(healthy);
  });
}

TEST_CASE("every_actor_answers_what_it_does_not_know_with_an_error_and_lives_on") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  Endpoint with_fanout{test.system, {.node = "m", .fanout = FanoutPlacement::own_actor}};
  Publisher publisher{test.system};
  const caf::actor fanout = spawn_fanout(test.system);
  const caf::actor consumer = spawn_consumer(test.system);
  for (const caf::actor& actor :
       {node.ref().actor(), with_fanout.ref().actor(), publisher.actor(), fanout, consumer})
    for (int i = 0; i < 2; ++i)
      CHECK_FALSE(ask<int>(test.system, actor, std::string("what?"), 1.5));
  CHECK(ask<PipeLedger>(test.system, node.ref().actor(), ledger_atom_v));
  CHECK(ask<PipeLedger>(test.system, with_fanout.ref().actor(), ledger_atom_v));
  CHECK(ask<OfferedNames>(test.system, publisher.actor(), names_atom_v));
  CHECK(ask<PublicationLedger>(test.system, fanout, ledger_atom_v));
  CHECK(ask<ConsumerLedger>(test.system, consumer, ledger_atom_v));
  stop(fanout);
  stop(consumer);
}

TEST_CASE("nobody_but_an_actor_itself_tells_of_its_end") {
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  Publisher publisher{test.system};
  REQUIRE(publisher.offer("n", node.ref()));
  auto seen = std::make_shared<Seen>();
  const auto reader = spawn_recorder(test.system, node.ref(), seen);
  REQUIRE(eventually([&] { return seen->has_started(); }));
  const caf::error reason = caf::exit_reason::remote_link_unreachable;
  for (const std::uint64_t ticket : {std::uint64_t{0}, std::uint64_t{1}, UINT64_MAX}) {
    compat::anon_send(node.ref().actor(), down_atom_v, reader.address(), ticket, reason);
    compat::anon_send(node.ref().actor(), down_atom_v, ticket, reason);
    compat::anon_send(publisher.actor(), down_atom_v, std::string("n"), ticket, reason);
    compat::anon_send(reader, down_atom_v, node.ref().actor().address(), ticket, reason);
  }
  CHECK(ask<caf::actor>(test.system, publisher.actor(), find_atom_v, std::string("n")) ==
        node.ref().actor());
  REQUIRE(node.producer().submit_text(ChannelId{1}, "all are there"));
  CHECK(eventually([&] { return seen->frames() == 1; }));
  CHECK(node.ledger().fanout.subscribers.size() == 1);
  CHECK(seen->now().downs == 0);
  stop(reader);
}

TEST_CASE("errors_that_a_peer_sends_without_end_are_few_lines_of_a_log") {
  const LogRecorder log;
  TestSystem test;
  Endpoint node{test.system, {.node = "n"}};
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 10'000; ++i)
    compat::anon_send(node.ref().actor(), caf::make_error(caf::sec::unexpected_response));
  CHECK(ask<PipeLedger>(test.system, node.ref().actor(), ledger_atom_v)); // behind all of them
  const auto seconds = std::chrono::steady_clock::now() - begun;
  CHECK(log.lines().size() >= 1);
  CHECK(log.lines().size() <= 1 + std::chrono::ceil<std::chrono::seconds>(seconds).count());
}
