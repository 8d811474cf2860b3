// An actor that acknowledges when it has written what it received, not when it has received it.
#include <datastream/actors.hpp>

#include <iostream>
#include <latch>
#include <memory>
#include <string>

namespace ds = datastream;

struct Writer {
  std::string unwritten;
  std::size_t frames = 0;
};

caf::behavior writer(caf::event_based_actor* self, const ds::EndpointRef& node,
                     const std::shared_ptr<std::latch>& subscribed) {
  const auto state = std::make_shared<Writer>();
  const auto collect = [self, state](const ds::EventBatch& batch, const ds::Receipt& receipt) {
    batch.each([&](const ds::FrameView& frame) {
      state->unwritten.append(frame.payload).append("; ");
      ++state->frames;
    });
    if (state->unwritten.size() < 4096 && !batch.ended)
      return; // not acknowledged yet: counts against the capacity
    std::cout << "wrote " << state->frames << " frames: " << state->unwritten << '\n';
    *state = {};
    receipt.acknowledge(); // this delivery, and every one before
    if (batch.ended)
      self->quit();
  };
  ds::Subscriber in{self};
  in.subscribe(
      node,
      {.on_delivery = collect, .on_start = [subscribed](const auto&) { subscribed->count_down(); }},
      {.name = "writer"});
  return in.handlers();
}

void caf_main(caf::actor_system& system, const caf::actor_system_config&) {
  ds::Endpoint node{system, {.node = "demo"}};
  const auto subscribed = std::make_shared<std::latch>(1);
  system.spawn(writer, node.ref(), subscribed);
  subscribed->wait();
  ds::DatastreamProducer out = node.producer();
  const ds::ChannelId log = out.register_channel("demo.log", ds::TextStream{});
  for (int i = 0; i < 3; ++i)
    out.submit_text(log, "line " + std::to_string(i));
  std::cout << (node.close() ? "all" : "not all") << " was acknowledged\n";
}

CAF_MAIN(caf::id_block::datastream)
