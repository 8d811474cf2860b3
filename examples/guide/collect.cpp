// One actor that stores the streams of several nodes, and says of each what arrived.
#include <datastream/actors.hpp>
#include <datastream/caf/send.hpp>

#include <chrono>
#include <iostream>
#include <string>

namespace ds = datastream;
using namespace std::chrono_literals;

void emit(const ds::Endpoint& node, int frames) {
  const ds::DatastreamProducer out = node.producer();
  const ds::ChannelId log = out.register_channel("node.log", ds::TextStream{});
  for (int i = 0; i < frames; ++i)
    out.submit_text(log, "line " + std::to_string(i));
}

void caf_main(caf::actor_system& system, const caf::actor_system_config&) {
  ds::Endpoint a{system, {.node = "a"}};
  ds::Endpoint b{system, {.node = "b"}};
  const caf::actor consumer = ds::spawn_consumer(system);
  caf::scoped_actor self{system};
  const auto fail = [](const caf::error&) { std::cerr << "the consumer refused\n"; };
  for (const ds::Endpoint* node : {&a, &b}) // of other processes: what `connect` finds
    ds::compat::request(self.ptr(), consumer, 10s, ds::follow_atom_v, node->ref().actor())
        .receive([](const ds::SubscriptionStart&) {}, fail);
  emit(a, 3);
  emit(b, 5);
  a.close(); // what is acknowledged is stored
  b.close();
  ds::compat::request(self.ptr(), consumer, 10s, ds::ledger_atom_v)
      .receive(
          [](const ds::ConsumerLedger& all) {
            for (const ds::IngestLedger& ledger : all.streams)
              std::cout << ledger.stream.node << ": " << ledger.stored << " stored, "
                        << ledger.missing() << " missing\n";
          },
          fail);
  caf::anon_send_exit(consumer, caf::exit_reason::user_shutdown);
}

CAF_MAIN(caf::id_block::datastream)
