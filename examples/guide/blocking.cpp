// An actor that receives by itself reads a stream: here the one that a thread borrows from CAF.
#include <datastream/actors.hpp>

#include <iostream>
#include <string>

namespace ds = datastream;

void caf_main(caf::actor_system& system, const caf::actor_system_config&) {
  ds::Endpoint node{system, {.node = "demo"}};
  caf::scoped_actor self{system};
  ds::Subscriber in{self.ptr()};
  bool more = true;
  in.subscribe(node.ref(), [&](const ds::EventBatch& batch) { // returns once it has begun
    batch.each([](const ds::FrameView& frame) {
      std::cout << frame.name << " #" << frame.position << ' ' << frame.payload << '\n';
    });
    more = !batch.ended;
  });

  ds::DatastreamProducer out = node.producer();
  const ds::ChannelId log = out.register_channel("demo.log", ds::TextStream{});
  for (int i = 0; i < 3; ++i)
    out.submit_text(log, "line " + std::to_string(i));
  node.end_stream();

  caf::behavior deliveries = in.handlers(); // one object for all calls
  self->receive_while([&] { return more; })(deliveries);
  node.close();
}

CAF_MAIN(caf::id_block::datastream)
