// An actor that stores a stream and answers what is in it.
#include <datastream/actors.hpp>
#include <datastream/caf/send.hpp>

#include <chrono>
#include <iostream>
#include <string>

namespace ds = datastream;
using namespace std::chrono_literals;

void caf_main(caf::actor_system& system, const caf::actor_system_config&) {
  ds::Endpoint node{system, {.node = "demo"}};
  const caf::actor consumer = ds::spawn_consumer(system, {.retention = {.frames = 1'000'000}});
  caf::scoped_actor self{system};
  const auto fail = [](const caf::error&) { std::cerr << "the consumer refused\n"; };
  const auto ask = [&](auto... parts) {
    return ds::compat::request(self.ptr(), consumer, 10s, parts...);
  };
  ask(ds::follow_atom_v, node.ref().actor()).receive([](const ds::SubscriptionStart&) {}, fail);

  ds::DatastreamProducer out = node.producer();
  const ds::ChannelId log = out.register_channel("demo.log", ds::TextStream{});
  for (int i = 0; i < 5; ++i)
    out.submit_text(log, "line " + std::to_string(i));
  node.close(); // what is acknowledged is stored

  ask(ds::page_atom_v, node.stream_id(), ds::Position{1}, std::uint32_t{3})
      .receive(
          [](const ds::FramePage& page) {
            for (const ds::FrameView& frame : page.frames)
              std::cout << '#' << frame.position << ' ' << frame.payload << '\n';
            std::cout << (page.more ? "more" : "nothing") << " from #" << page.next << " on\n";
          },
          fail);
  ask(ds::ledger_atom_v, node.stream_id())
      .receive(
          [](const ds::IngestLedger& ledger) {
            std::cout << ledger.stored << " stored, " << ledger.missing() << " missing\n";
          },
          fail);
  caf::anon_send_exit(consumer, caf::exit_reason::user_shutdown);
}

CAF_MAIN(caf::id_block::datastream)
