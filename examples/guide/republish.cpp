// Collects a stream and offers it to subscribers of its own.
#include <datastream/actors.hpp>

#include <iostream>
#include <latch>
#include <memory>
#include <string>

namespace ds = datastream;

caf::behavior relay(caf::event_based_actor* self, const ds::EndpointRef& node,
                    const caf::actor& fanout, const std::shared_ptr<std::latch>& subscribed) {
  ds::Subscriber in{self};
  const auto begin = [subscribed](const ds::SubscriptionStart&) { subscribed->count_down(); };
  in.subscribe(node, ds::republish(self, fanout, {.on_start = begin}), {.name = "relay"});
  return in.handlers();
}

void caf_main(caf::actor_system& system, const caf::actor_system_config&) {
  ds::Endpoint node{system, {.node = "demo"}};
  const caf::actor fanout = ds::spawn_fanout(system);
  const auto subscribed = std::make_shared<std::latch>(1);
  const caf::actor collector = system.spawn(relay, node.ref(), fanout, subscribed);
  subscribed->wait();
  auto in = ds::ThreadSubscription::open(system, ds::EndpointRef(fanout), {.name = "reader"});
  if (!in)
    return;

  ds::DatastreamProducer out = node.producer();
  const ds::ChannelId log = out.register_channel("demo.log", ds::TextStream{});
  for (int i = 0; i < 3; ++i)
    out.submit_text(log, "line " + std::to_string(i));
  node.close(); // the fanout has published everything

  while (auto batch = in->recv()) {
    batch->each([](const ds::FrameView& frame) {
      std::cout << frame.name << " #" << frame.position << ' ' << frame.payload << '\n';
    });
    if (batch->ended)
      break;
  }
  for (const caf::actor& actor : {collector, fanout})
    caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
}

CAF_MAIN(caf::id_block::datastream)
