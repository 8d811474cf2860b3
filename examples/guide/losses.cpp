// A reader that has room for two frames, and what is counted when five come.
#include <datastream/actors.hpp>
#include <datastream/ingest/consumer.hpp>

#include <iostream>
#include <string>

namespace ds = datastream;

void caf_main(caf::actor_system& system, const caf::actor_system_config&) {
  ds::Endpoint node{system, {.node = "demo"}};
  auto in = node.subscribe("slow", ds::SubscriptionRequest::all(), {.frames = 2});
  ds::Consumer store;
  for (const ds::StreamStart& start : in.starts())
    store.begin({.id = in.id(), .snapshot = in.snapshot(), .starts = {start}});

  ds::DatastreamProducer out = node.producer();
  const ds::ChannelId log = out.register_channel("demo.log", ds::TextStream{});
  for (int i = 0; i < 5; ++i)
    out.submit_text(log, "line " + std::to_string(i));
  node.close();
  while (auto batch = in.recv()) // what was queued is still there
    store.accept(*batch);

  const ds::SubscriberCounts counts = in.counts();
  std::cout << "sender: offered " << counts.offered << " = acknowledged " << counts.acknowledged
            << " + dropped " << counts.dropped << '\n';
  const ds::IngestLedger ledger = store.store().find(node.stream_id())->ledger();
  std::cout << "receiver: stored " << ledger.stored << ", missing " << ledger.missing() << '\n';
}

CAF_MAIN(caf::id_block::datastream)
