// What CAF says by itself, for example that an actor threw, goes through a producer.
#include "redirect.hpp"

#include <datastream/actors.hpp>
#include <datastream/caf/send.hpp>

#include <iostream>
#include <stdexcept>

namespace ds = datastream;

caf::behavior clumsy(caf::event_based_actor*) {
  return {[](int) { throw std::runtime_error("dropped it"); }};
}

void caf_main(caf::actor_system& system, const caf::actor_system_config&) {
  ds::Endpoint node{system, {.node = "demo"}};
  auto in = node.subscribe("reader");
  const ds::DatastreamProducer out = node.producer();
  const ConsoleRedirection console(system, out, out.register_channel("caf.log", ds::TextStream{}));
  ds::compat::anon_send(system.spawn(clumsy), 1);
  for (bool seen = false; !seen;) {
    const auto batch = in.recv();
    if (!batch)
      return;
    batch->each([&](const ds::FrameView& frame) {
      std::cerr << frame.name << ' ' << frame.payload << '\n'; // `std::cout` is redirected
      seen |= frame.payload.contains("dropped it");
    });
  }
}

CAF_MAIN(caf::id_block::datastream)
