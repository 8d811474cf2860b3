// An actor that reads a stream.
#include <datastream/actors.hpp>

#include <iostream>
#include <latch>
#include <memory>
#include <string>

namespace ds = datastream;

caf::behavior printer(caf::event_based_actor* self, const ds::EndpointRef& node,
                      const std::shared_ptr<std::latch>& subscribed) {
  const auto print = [self](const ds::EventBatch& batch) { // acknowledged when this returns
    batch.each([](const ds::FrameView& frame) {
      std::cout << frame.name << " #" << frame.position << ' ' << frame.payload << '\n';
    });
    if (batch.ended)
      self->quit();
  };
  const auto begin = [subscribed](const ds::SubscriptionStart&) { subscribed->count_down(); };
  ds::Subscriber in{self};
  in.subscribe(node, {.on_batch = print, .on_start = begin}, {.name = "printer"});
  return in.handlers([](int) { /* the actor's own messages */ });
}

void caf_main(caf::actor_system& system, const caf::actor_system_config&) {
  ds::Endpoint node{system, {.node = "demo"}};
  const auto subscribed = std::make_shared<std::latch>(1);
  system.spawn(printer, node.ref(), subscribed);
  subscribed->wait(); // what is said from here on arrives
  ds::DatastreamProducer out = node.producer();
  const ds::ChannelId log = out.register_channel("demo.log", ds::TextStream{});
  for (int i = 0; i < 3; ++i)
    out.submit_text(log, "line " + std::to_string(i));
  node.close(); // waits until the actor has acknowledged everything
}

CAF_MAIN(caf::id_block::datastream)
