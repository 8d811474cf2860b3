// A thread reads any endpoint or fanout, also one of another process.
#include <datastream/actors.hpp>

#include <iostream>
#include <string>

namespace ds = datastream;

void caf_main(caf::actor_system& system, const caf::actor_system_config&) {
  ds::Endpoint node{system, {.node = "demo"}};
  const ds::EndpointRef endpoint = node.ref(); // or: *ds::connect(system, "host", 4242)
  auto in = ds::ThreadSubscription::open(system, endpoint, {.name = "thread"});
  if (!in)
    return;

  ds::DatastreamProducer out = node.producer();
  const ds::ChannelId log = out.register_channel("demo.log", ds::TextStream{});
  for (int i = 0; i < 3; ++i)
    out.submit_text(log, "line " + std::to_string(i));
  node.end_stream();

  while (auto batch = in->recv()) {
    batch->each([](const ds::FrameView& frame) {
      std::cout << frame.name << " #" << frame.position << ' ' << frame.payload << '\n';
    });
    if (batch->ended)
      break;
  }
  node.close();
}

CAF_MAIN(caf::id_block::datastream)
