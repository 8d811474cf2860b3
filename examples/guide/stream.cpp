// A program with a stream: it says three things, and nobody listens.
#include <datastream/actors.hpp>

#include <iostream>
#include <string>

namespace ds = datastream;

void caf_main(caf::actor_system& system, const caf::actor_system_config&) {
  ds::Endpoint node{system, {.node = "demo"}};
  ds::DatastreamProducer out = node.producer();
  const ds::ChannelId log = out.register_channel("demo.log", ds::TextStream{});
  for (int i = 0; i < 3; ++i)
    out.submit_text(log, "line " + std::to_string(i)); // false: refused and counted
  node.close();
  const ds::PipeLedger ledger = node.ledger();
  std::cout << ledger.assigned << " frames have a position, " << ledger.bitbucketed
            << " of them nobody heard\n";
}

CAF_MAIN(caf::id_block::datastream)
