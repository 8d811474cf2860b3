// Offers its stream to other processes, by name.
#include <datastream/actors.hpp>

#include <caf/io/middleman.hpp>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>
#include <thread>

namespace ds = datastream;

struct Config : caf::actor_system_config {
  std::uint16_t port = 0; // any free one

  Config() {
    ds::recommended_settings(*this);
    opt_group{custom_options_, "global"}.add(port, "port", "where to listen");
  }
};

void caf_main(caf::actor_system& system, const Config& config) {
  ds::Endpoint node{system, {.node = "demo"}};
  ds::Publisher publisher{system};
  const auto offered = publisher.offer("demo", node.ref());
  const auto port = ds::publish(system, publisher.actor(), config.port);
  if (!offered || !port) {
    std::cerr << "cannot publish\n";
    return;
  }
  std::cout << *port << std::endl;
  while (node.ledger().fanout.subscribers.empty()) // until somebody listens
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ds::DatastreamProducer out = node.producer();
  const ds::ChannelId log = out.register_channel("demo.log", ds::TextStream{});
  for (int i = 0; i < 3; ++i)
    out.submit_text(log, "line " + std::to_string(i));
  node.close();
}

CAF_MAIN(caf::id_block::datastream, caf::io::middleman)
