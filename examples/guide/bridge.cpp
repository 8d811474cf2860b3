// Sends a stream as legacy envelopes, and stores what a peer sends. Here both are one program.
#include <datastream/actors.hpp>
#include <datastream/caf/send.hpp>
#include <datastream/envelope_caf/bridge.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <thread>

namespace ds = datastream;
using namespace std::chrono_literals;

void caf_main(caf::actor_system& system, const caf::actor_system_config&) {
  // The receiving side: any port on which it listens, and a consumer that stores what comes.
  const caf::actor consumer = ds::spawn_consumer(system);
  auto in = ds::Bridge::open(system, {.into = consumer, .links = {{.listen = ds::TcpListen{}}}});
  if (!in) {
    std::cerr << in.error().message << '\n';
    return;
  }
  // The sending side: everything that `node` emits goes to that port.
  ds::Endpoint node{system, {.node = "demo"}};
  const ds::TcpPeer peer{.host = "127.0.0.1", .port = in->port(0)};
  auto out = ds::Bridge::open(system, {.from = node.ref(), .links = {{.send_to = peer}}});
  if (!out) {
    std::cerr << out.error().message << '\n';
    return;
  }
  const ds::DatastreamProducer producer = node.producer();
  const ds::ChannelId log = producer.register_channel("demo.log", ds::TextStream{});
  for (int i = 0; i < 3; ++i)
    producer.submit_text(log, "line " + std::to_string(i));
  node.close(); // the bridge has been given everything
  out->close(); // and it has left
  const auto sent = out->ledger().links[0].sent.value();
  std::cout << sent.sent << " sent, " << sent.lost.total() << " lost\n";

  while (in->ledger().arrived.delivered < sent.sent)
    std::this_thread::sleep_for(1ms);
  caf::scoped_actor self{system};
  ds::compat::request(self.ptr(), consumer, 10s, ds::page_atom_v, node.stream_id(), ds::Position{0},
                      std::uint32_t{10})
      .receive(
          [](const ds::FramePage& page) {
            for (const ds::FrameView& frame : page.frames)
              std::cout << '#' << frame.position << ' ' << frame.payload << '\n';
          },
          [](const caf::error&) { std::cerr << "nothing was stored\n"; });
  in->close();
  caf::anon_send_exit(consumer, caf::exit_reason::user_shutdown);
}

CAF_MAIN(caf::id_block::datastream, caf::id_block::datastream_envelope)
