#include "middleman_test.hpp"
#include "process_usage.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <latch>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

// AddressSanitizer takes its time: fewer frames.
constexpr std::uint64_t frames = memory_is_ours ? 10'000'000 : 1'000'000;

} // namespace

TEST_CASE("ten_million_frames_past_stopped_readers_here_and_elsewhere_cost_no_memory") {
  RemoteConfig config;
  // Nobody comes to the rescue. Not zero, which means never to CAF 0.17.6 and at once to 1.x.
  compat::set(config, "middleman.connection-timeout", caf::timespan(std::chrono::hours(1)));
  caf::actor_system system{config};
  Endpoint node{system, {.node = "n"}};
  const auto port = publish(system, node.ref(), 0);
  REQUIRE(port);

  auto entered = std::make_shared<std::latch>(1);
  auto open = std::make_shared<std::latch>(1);
  const auto blocked =
      system.spawn<caf::detached>([&](caf::event_based_actor* self) -> caf::behavior {
        Subscriber in{self};
        in.subscribe(node.ref(),
                     [=, first = true](const EventBatch&) mutable {
                       if (std::exchange(first, false)) {
                         entered->count_down();
                         open->wait();
                       }
                     },
                     {.name = "blocked"});
        return in.handlers();
      });
  const auto process = peer("subscribe", std::to_string(*port), "16384");
  process->expect("started");
  auto seen = std::make_shared<Seen>();
  const auto healthy = spawn_recorder(system, node.ref(), seen, {.name = "healthy"});
  REQUIRE(eventually([&] { return node.ledger().fanout.subscribers.size() == 3; }));
  process->freeze();

  const auto out = node.producer();
  const std::string payload(64, 'p');
  const std::vector<std::string_view> payloads(256, payload);
  std::uint64_t sent = 0;
  std::uint64_t refused = 0;
  const auto send_until = [&](std::uint64_t goal) {
    while (sent < goal) {
      const std::size_t accepted = out.submit_many(ChannelId{1}, payloads);
      sent += accepted;
      refused += payloads.size() - accepted;
      if (accepted < payloads.size())
        std::this_thread::yield();
    }
  };
  send_until(frames / 10);
  entered->wait();
  const std::size_t before = resident_bytes();
  std::size_t most = before;
  for (std::uint64_t part = 2; part <= 10; ++part) {
    send_until(frames / 10 * part);
    most = std::max(most, resident_bytes());
  }
  if (memory_is_ours)
    CHECK(most - before < 8U << 20U);
  MESSAGE("resident: ", before >> 20U, " MiB, then at most ", most >> 20U, " MiB");

  REQUIRE(eventually([&] { return node.ledger().in_mux == 0; }));
  REQUIRE(eventually([&] {
    for (const auto& entry : node.ledger().fanout.subscribers)
      if (entry.name == "healthy")
        return entry.counts.outstanding == 0;
    return false;
  }));
  const auto ledger = node.ledger();
  CHECK(ledger.balanced());
  CHECK(ledger.assigned == sent);
  CHECK(ledger.refused.total() == refused);
  REQUIRE(ledger.fanout.subscribers.size() == 3);
  for (const auto& entry : ledger.fanout.subscribers) {
    CHECK(entry.counts.offered == sent);
    if (entry.name == "healthy") {
      CHECK(entry.counts.acknowledged == seen->frames());
      CHECK(entry.counts.dropped == sent - seen->frames());
    } else {
      CHECK(entry.counts.outstanding == defaults::subscriber_actor_frames);
    }
  }
  MESSAGE("healthy reader lost ", sent - seen->frames(), " of ", sent);
  CHECK(seen->now().ascending);
  open->count_down();
  process->signal(SIGKILL);
  node.close();
  CHECK(node.ledger().balanced());
  CHECK(outstanding(node.ledger()) == 0);
  stop(blocked);
  stop(healthy);
}
