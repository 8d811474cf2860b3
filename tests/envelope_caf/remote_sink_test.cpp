/// An emitter and a sink in two processes.

#include <child_process.hpp>
#include <quick_heartbeats.hpp>

#include "sink_test.hpp"

#include <datastream/actors/remote.hpp>
#include <datastream/actors/settings.hpp>
#include <datastream/envelope_caf/actor_sender.hpp>

#include <caf/io/middleman.hpp>

#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

const StreamId stream{"n", {1}};

struct NetworkSystem {
  struct NetworkConfig : EnvelopeConfig {
    NetworkConfig() {
      compat::load<caf::io::middleman>(*this);
      recommended_settings(*this);
      quick_heartbeats(*this);
    }
  };
  NetworkConfig config;
  caf::actor_system system{config};
};

std::unique_ptr<ChildProcess> start_sink(std::uint16_t port = 0) {
  return std::make_unique<ChildProcess>(
      std::vector<std::string>{ENVELOPE_PEER, std::to_string(port)});
}

std::uint16_t port_of(ChildProcess& sink) {
  return static_cast<std::uint16_t>(std::stoul(sink.expect("port")));
}

std::uint64_t stored_at(ChildProcess& sink) {
  sink.write_line("count n 1");
  return std::stoull(sink.expect("stored"));
}

std::unique_ptr<ActorSender> sender_to(caf::actor_system& system, std::uint16_t port) {
  auto sender = ActorSender::open(
      system, {.sink = RemoteEndpoint{.host = "127.0.0.1", .port = port, .retry_most = 200ms}});
  REQUIRE(sender);
  return std::move(*sender);
}

/// Sends frames of 100 bytes and counts positions up.
class Source {
public:
  explicit Source(EnvelopeSender& sender) : sender_(sender) {}
  void send(std::uint64_t count) {
    std::vector<Frame> frames;
    for (std::uint64_t i = 0; i < count; ++i)
      frames.push_back({{1}, {next_++}, std::string(100, 'x')});
    sender_.send(FrameBatch::copy_of(stream, frames));
  }

private:
  EnvelopeSender& sender_;
  std::uint64_t next_ = 0;
};

} // namespace

TEST_CASE("an_emitter_ships_everything_to_a_sink_in_another_process") {
  NetworkSystem test;
  const auto peer = start_sink();
  const auto sender = sender_to(test.system, port_of(*peer));
  Source source(*sender);
  for (int i = 0; i < 10; ++i)
    source.send(1000);
  REQUIRE(sender->flush(20s));
  CHECK(sender->ledger().sent == 10'000);
  CHECK(stored_at(*peer) == 10'000);
}

TEST_CASE("a_sink_that_is_started_later_gets_what_was_queued") {
  NetworkSystem test;
  auto peer = start_sink();
  const std::uint16_t port = port_of(*peer);
  peer.reset(); // now the port is known, and nobody listens
  const auto sender = sender_to(test.system, port);
  Source source(*sender);
  source.send(500);
  CHECK(!sender->flush(50ms));
  peer = start_sink(port);
  REQUIRE(sender->flush(20s));
  CHECK(stored_at(*peer) == 500);
}

TEST_CASE("a_frozen_sink_in_another_process_is_cut_off_and_costs_no_more_than_the_queue") {
  NetworkSystem test;
  auto peer = start_sink();
  const std::uint16_t port = port_of(*peer);
  const auto sender = sender_to(test.system, port);
  Source source(*sender);
  source.send(10);
  REQUIRE(sender->flush(20s));
  peer->signal(SIGSTOP);
  for (int i = 0; i < 40; ++i)
    source.send(1000);
  const SenderLedger frozen = sender->ledger();
  CHECK(frozen.queued == defaults::sender_frames);
  CHECK(frozen.lost.send_queue_full == 40'000 - defaults::sender_frames);
  CHECK(frozen.balanced());
  // The connection is cut when its silence is noticed: what was under way is counted as lost.
  REQUIRE(eventually([&] { return sender->ledger().broken == 1; }));
  CHECK(sender->ledger().lost.connection_broken > 0);
  // A new process at the same port gets the rest.
  peer.reset();
  peer = start_sink(port);
  REQUIRE(sender->flush(20s));
  const SenderLedger after = sender->ledger();
  CHECK(after.balanced());
  CHECK(after.queued == 0);
  CHECK(after.connects == 2);
  CHECK(stored_at(*peer) == after.sent - 10);
}
