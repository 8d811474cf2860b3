#include "middleman_test.hpp"

#include <datastream/actors/consumer_actor.hpp>

#include <doctest/doctest.h>

#include <sstream>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

/// What a subscribing peer says at the end of the stream.
struct Ended {
  std::uint64_t frames = 0;
  std::uint64_t dropped = 0;
  std::uint64_t missing = 0;
  std::uint64_t assigned = 0;
};

Ended ended(ChildProcess& process) {
  std::istringstream line(process.expect("ended"));
  Ended result;
  line >> result.frames >> result.dropped >> result.missing >> result.assigned;
  return result;
}

} // namespace

TEST_CASE("a_reader_in_another_process_receives_everything_and_both_ledgers_agree") {
  RemoteSystem test;
  Endpoint node{test.system, {.node = "n"}};
  const auto port = publish(test.system, node.ref(), 0);
  REQUIRE(port);
  const auto wide = peer("subscribe", std::to_string(*port), "100000");
  const auto narrow = peer("subscribe", std::to_string(*port), "10");
  wide->expect("started");
  narrow->expect("started");
  const auto out = node.producer();
  const auto log = out.register_channel("a", TextStream{});
  for (int i = 0; i < 20'000; ++i)
    while (!out.submit_text(log, "some text"))
      std::this_thread::yield();
  CHECK(node.close(20s));
  const Ended all = ended(*wide);
  CHECK(all.frames == 20'000);
  CHECK(all.missing == 0);
  CHECK(all.assigned == 20'000);
  const Ended some = ended(*narrow);
  CHECK(some.frames + some.dropped == 20'000);
  CHECK(some.missing == some.dropped);
  const auto ledger = node.ledger();
  CHECK(ledger.balanced());
  CHECK(ledger.fanout.departed.acknowledged == all.frames + some.frames);
  CHECK(ledger.fanout.departed.dropped == some.dropped);
  CHECK(ledger.fanout.departed.abandoned == 0);
  wide->expect("down");
  narrow->expect("down");
}

TEST_CASE("a_burst_and_an_immediate_close_of_the_other_process_lose_nothing") {
  for (int round = 0; round < 3; ++round) {
    RemoteSystem test;
    const auto process = peer("publish");
    const auto node = connect(test.system, "127.0.0.1", port_of(*process));
    REQUIRE(node);
    auto seen = std::make_shared<Seen>(true);
    const auto reader = spawn_recorder(test.system, *node, seen);
    const auto consumer = spawn_consumer(test.system);
    REQUIRE(ask<SubscriptionStart>(test.system, consumer, follow_atom_v, node->actor()));
    REQUIRE(eventually([&] { return seen->has_started(); }));
    process->write_line("submit 5000");
    process->write_line("close");
    CHECK(process->expect("closed") == "1");
    process->signal(SIGKILL);
    // All was acknowledged before, so all is here, the end too.
    const auto events = seen->now();
    CHECK(events.frames == 5000);
    CHECK(events.gaps == 0);
    REQUIRE(events.ended);
    CHECK(events.ended->assigned == 5000);
    // The name came with the snapshot or, if it was late, as a declaration.
    CHECK(std::ranges::count(events.log, "frame peer.log line 4999") == 1);
    const auto ledger =
        ask<IngestLedger>(test.system, consumer, ledger_atom_v, events.ended->stream);
    REQUIRE(ledger);
    CHECK(ledger->stored == 5000);
    CHECK(ledger->missing() == 0);
    CHECK(ledger->balanced());
    CHECK(eventually([&] { return seen->now().downs == 1; }));
    stop(reader);
    stop(consumer);
  }
}

TEST_CASE("channels_of_another_process_are_declared_once_and_before_their_frames") {
  RemoteSystem test;
  const auto process = peer("publish");
  const auto node = connect(test.system, "127.0.0.1", port_of(*process));
  REQUIRE(node);
  auto seen = std::make_shared<Seen>(true);
  const auto reader = spawn_recorder(test.system, *node, seen);
  REQUIRE(eventually([&] { return seen->has_started(); }));
  REQUIRE(seen->now().start->snapshot.channels.size() == 1);
  process->write_line("submit 1");
  process->write_line("register late");
  process->write_line("submit 1");
  process->write_line("end");
  REQUIRE(eventually([&] { return seen->has_ended(); }));
  // The declaration may come alone, or with the frames of either channel.
  auto log = seen->now().log;
  const auto declared = std::ranges::find(log, "declare late");
  REQUIRE(declared != log.end());
  CHECK(declared < std::ranges::find(log, "frame late line 0"));
  log.erase(declared);
  CHECK(log ==
        std::vector<std::string>{"start", "frame peer.log line 0", "frame late line 0", "ended"});
  stop(reader);
}

TEST_CASE("a_reader_whose_process_is_killed_is_removed_and_counted") {
  RemoteSystem test;
  Endpoint node{test.system, {.node = "n"}};
  const auto port = publish(test.system, node.ref(), 0);
  REQUIRE(port);
  const auto process = peer("subscribe", std::to_string(*port), "100");
  process->expect("started");
  process->freeze();
  for (int i = 0; i < 1000; ++i)
    node.producer().submit_text(ChannelId{1}, "x");
  REQUIRE(eventually([&] { return node.ledger().in_mux == 0; }));
  CHECK(outstanding(node.ledger()) == 100);
  process->signal(SIGKILL);
  REQUIRE(eventually([&] { return node.ledger().fanout.subscribers.empty(); }));
  const auto departed = node.ledger().fanout.departed;
  CHECK(departed.offered == 1000);
  CHECK(departed.abandoned == 100);
  CHECK(departed.dropped == 900);
  CHECK(node.ledger().balanced());
}

TEST_CASE("an_endpoint_whose_process_is_killed_is_reported_and_can_be_found_again") {
  RemoteSystem test;
  auto process = peer("publish");
  const auto port = port_of(*process);
  const auto node = connect(test.system, "127.0.0.1", port);
  REQUIRE(node);
  auto seen = std::make_shared<Seen>();
  const auto reader = spawn_recorder(test.system, *node, seen);
  REQUIRE(eventually([&] { return seen->has_started(); }));
  process->signal(SIGKILL);
  REQUIRE(eventually([&] { return seen->now().downs == 1; }));
  CHECK(seen->now().reason);
  CHECK_FALSE(seen->has_ended());
  process = peer("publish", std::to_string(port));
  REQUIRE(port_of(*process) == port);
  const auto again = connect(test.system, "127.0.0.1", port);
  REQUIRE(again);
  auto second = std::make_shared<Seen>();
  const auto late = spawn_recorder(test.system, *again, second);
  REQUIRE(eventually([&] { return second->has_started(); }));
  process->write_line("submit 10");
  CHECK(eventually([&] { return second->frames() == 10; }));
  stop(reader);
  stop(late);
}

TEST_CASE("nobody_listening_is_an_error") {
  RemoteSystem test;
  CHECK_FALSE(connect(test.system, "127.0.0.1", 1));
}

TEST_CASE("frozen_processes_are_noticed_with_the_recommended_settings") {
  RemoteSystem test;
  Endpoint node{test.system, {.node = "n"}};
  const auto port = publish(test.system, node.ref(), 0);
  REQUIRE(port);
  const auto reader_process = peer("subscribe", std::to_string(*port), "100");
  reader_process->expect("started");
  const auto publisher = peer("publish");
  const auto remote = connect(test.system, "127.0.0.1", port_of(*publisher));
  REQUIRE(remote);
  auto seen = std::make_shared<Seen>();
  const auto reader = spawn_recorder(test.system, *remote, seen);
  REQUIRE(eventually([&] { return seen->has_started(); }));
  const auto frozen = std::chrono::steady_clock::now();
  reader_process->freeze();
  publisher->freeze();
  CHECK(eventually([&] { return node.ledger().fanout.subscribers.empty(); }, 10s));
  CHECK(eventually([&] { return seen->now().downs == 1; }, 10s));
  CHECK(std::chrono::steady_clock::now() - frozen < 10s);
  stop(reader);
}

TEST_CASE("quiet_connections_stay_up_with_the_recommended_settings") {
  RemoteSystem test;
  const auto publisher = peer("publish");
  const auto remote = connect(test.system, "127.0.0.1", port_of(*publisher));
  REQUIRE(remote);
  auto seen = std::make_shared<Seen>();
  const auto reader = spawn_recorder(test.system, *remote, seen);
  REQUIRE(eventually([&] { return seen->has_started(); }));
  // The connection timeout is five seconds of silence.
  CHECK_FALSE(eventually([&] { return seen->now().downs > 0; }, 6500ms));
  publisher->write_line("submit 10");
  CHECK(eventually([&] { return seen->frames() == 10; }));
  stop(reader);
}

TEST_CASE("a_malformed_batch_of_a_peer_is_refused_and_the_connection_lives_on") {
  RemoteSystem test;
  const auto forger = peer("forge");
  const auto node = connect(test.system, "127.0.0.1", port_of(*forger));
  REQUIRE(node);
  auto seen = std::make_shared<Seen>(true);
  const auto reader = spawn_recorder(test.system, *node, seen);
  REQUIRE(eventually([&] { return seen->frames() == 1; }));
  CHECK(seen->now().malformed == 2);
  CHECK(seen->now().log.back() == "frame  fine");
  CHECK(forger->expect("acknowledged") == "1");
  CHECK(forger->expect("acknowledged") == "2");
  CHECK(seen->now().downs == 0);
  stop(reader);
}
