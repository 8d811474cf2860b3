// The node of a run with two processes: an endpoint that ticks when it is told to. All that is done
// to it comes by message.
//
//     model_peer NODE LIFE FRAMES BYTES     says: port N; ends when its input does

#include <datastream/actors/endpoint.hpp>
#include <datastream/actors/remote.hpp>
#include <datastream/actors/settings.hpp>
#include <datastream/actors/type_ids.hpp>
#include <datastream/caf/load.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/io/middleman.hpp>

#include <iostream>
#include <string>

using namespace datastream;

namespace {

struct Config : caf::actor_system_config {
  Config() {
    compat::load<caf::io::middleman, caf::id_block::datastream>(*this);
    recommended_settings(*this);
  }
};

} // namespace

int main(int argc, char** argv) {
  if (argc != 5)
    return 2;
  Config config;
  caf::actor_system system{config};
  Endpoint node{system,
                {.node = argv[1],
                 .life = Lifetime{std::stoull(argv[2])},
                 .mux = {.frames = std::stoul(argv[3]), .bytes = std::stoul(argv[4])},
                 .tick_interval = EndpointOptions::manual}};
  const auto port = publish(system, node.ref(), 0);
  if (!port)
    return 1;
  std::cout << "port " + std::to_string(*port) + "\n" << std::flush;
  std::string line;
  while (std::getline(std::cin, line)) {
  }
}
