// A thread that reads the stream of its own process.
#include <datastream/actors.hpp>

#include <iostream>
#include <string>
#include <thread>

namespace ds = datastream;

void print(const ds::FrameView& frame) {
  std::cout << frame.name << " #" << frame.position << ' ' << frame.payload << '\n';
}

void caf_main(caf::actor_system& system, const caf::actor_system_config&) {
  ds::Endpoint node{system, {.node = "demo"}};
  std::jthread printer([in = node.subscribe("printer")]() mutable {
    while (auto batch = in.recv()) // until the stream has ended and all of it was taken
      batch->each(print);
  });
  ds::DatastreamProducer out = node.producer();
  const ds::ChannelId log = out.register_channel("demo.log", ds::TextStream{});
  for (int i = 0; i < 3; ++i)
    out.submit_text(log, "line " + std::to_string(i));
  node.close();
}

CAF_MAIN(caf::id_block::datastream)
