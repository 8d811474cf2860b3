#pragma once
/// Endpoints of other processes, over CAF's middleman.

#include <datastream/actors/endpoint_ref.hpp>

#include <caf/error.hpp>
#include <caf/fwd.hpp>

#include <cstdint>
#include <expected>
#include <string>

namespace datastream {

/// Sets what CAF 0.17.6 leaves off by default and telemetry between processes needs: a heartbeat,
/// so that a frozen peer is noticed, and no automatic connections. Call it before the program's own
/// settings are read, which then prevail. Both processes need it: one that expects heartbeats cuts
/// a silent connection to a peer that sends none.
///
/// A frozen peer is noticed after five seconds. CAF 1.x needs thirty by its own defaults, and goes
/// back to them when it loads the middleman: for five, load it before, as `compat::load` does.
void recommended_settings(caf::actor_system_config& config);

/// Lets other processes reach an endpoint. Port 0 takes any free port. Listens on loopback unless
/// another address is given; the empty address means all. Returns the port.
/// The system must have loaded `caf::io::middleman`. Blocks for a short while.
std::expected<std::uint16_t, caf::error> publish(caf::actor_system& system,
                                                 const EndpointRef& endpoint, std::uint16_t port,
                                                 const std::string& address = "127.0.0.1");

/// Finds an endpoint that another process has published. Blocks until the peer answers or refuses,
/// so not from an actor that shares CAF's workers.
std::expected<EndpointRef, caf::error> connect(caf::actor_system& system, const std::string& host,
                                               std::uint16_t port);

} // namespace datastream
