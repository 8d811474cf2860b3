// The second process of tests of envelopes between actor systems: a sink that stores. It is told
// what to do on its standard input, says on its standard output what happened, and ends when its
// input does.
//
//     envelope_peer [PORT]                  says: port N
//       count NODE LIFE                     says: stored FRAMES
#include "../../support/quick_heartbeats.hpp"

#include <datastream/actors/consumer_actor.hpp>
#include <datastream/actors/remote.hpp>
#include <datastream/actors/settings.hpp>
#include <datastream/caf/load.hpp>
#include <datastream/caf/send.hpp>
#include <datastream/envelope_caf/sink_actor.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/io/middleman.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

using namespace datastream;

namespace {

struct Config : caf::actor_system_config {
  Config() {
    compat::load<caf::io::middleman, caf::id_block::datastream, caf::id_block::datastream_envelope>(
        *this);
    recommended_settings(*this);
    test::quick_heartbeats(*this);
  }
};

void say(const std::string& line) {
  std::cout << line + "\n" << std::flush;
}

void run(caf::actor_system& system, std::uint16_t port) {
  const auto consumer = spawn_consumer(system);
  const auto sink = spawn_sink(system, {.into = consumer});
  const auto bound = sink ? publish(system, *sink, port) : std::unexpected(sink.error());
  if (!bound)
    std::exit(1);
  say("port " + std::to_string(*bound));
  caf::scoped_actor self{system};
  std::string word;
  StreamId stream;
  while (std::cin >> word >> stream.node.value >> stream.life.value)
    compat::request(self.ptr(), consumer, std::chrono::seconds(20), ledger_atom_v, stream)
        .receive([](const IngestLedger& ledger) { say("stored " + std::to_string(ledger.stored)); },
                 [](const caf::error&) { say("stored 0"); });
  caf::anon_send_exit(*sink, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(consumer, caf::exit_reason::user_shutdown);
}

} // namespace

int main(int argc, char** argv) {
  Config config;
  caf::actor_system system{config};
  run(system, static_cast<std::uint16_t>(argc > 1 ? std::stoul(argv[1]) : 0));
}
