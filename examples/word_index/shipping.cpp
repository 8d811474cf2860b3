#include "shipping.hpp"

#include "messages.hpp"

#include <datastream/caf/monitors.hpp>
#include <datastream/envelope_caf/bridge.hpp>

#include <caf/error.hpp>
#include <caf/result.hpp>
#include <caf/sec.hpp>

#include <chrono>
#include <iostream>
#include <optional>
#include <utility>

namespace ds = datastream;
namespace compat = datastream::compat; // what differs between versions of CAF
using namespace std::chrono_literals;
using namespace word_index;

namespace {

Shipped shipped(const ds::LinkLedger& link) {
  return {.offered = link.sent->offered, .sent = link.sent->sent};
}

} // namespace

void ship_until_down(caf::scoped_actor& self, ds::Endpoint& node, std::uint16_t peer_port,
                     const caf::actor& coordinator) {
  std::optional<ds::Bridge> bridge;
  bool down = false;
  const compat::DownWatch watch(coordinator, caf::actor(self), done_atom_v);
  self->receive_while([&] { return !down; })(
      [&](ship_atom, std::uint16_t sink_port) -> caf::result<void> {
        const ds::RemoteEndpoint sink{.host = "127.0.0.1", .port = sink_port};
        auto opened = ds::Bridge::open(
            self->system(), {.from = node.ref(),
                             .links = {{.send_to = ds::SinkPeer{.sink = sink}},
                                       {.send_to = ds::UdpPeer{"127.0.0.1", peer_port}}}});
        if (!opened)
          return caf::make_error(caf::sec::runtime_error, opened.error().message);
        bridge = std::move(*opened);
        return caf::unit;
      },
      [&](shipped_atom) -> caf::result<Shipped, Shipped> {
        if (!bridge)
          return caf::make_error(caf::sec::runtime_error, "nothing was shipped");
        // In this order, so that the bridge has all of the stream before it is closed.
        const bool published = node.close();
        if (!bridge->close(30s) || !published)
          std::cerr << "not all envelopes have left in time\n";
        const ds::BridgeLedger ledger = bridge->ledger();
        return {shipped(ledger.links[0]), shipped(ledger.links[1])};
      },
      [&](done_atom, const caf::error&) { down = true; });
}
