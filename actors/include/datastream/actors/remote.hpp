#pragma once
/// Endpoints of other processes, over CAF's middleman.

#include <datastream/actors/endpoint_ref.hpp>

#include <caf/error.hpp>
#include <caf/fwd.hpp>

#include <cstdint>
#include <expected>
#include <string>

namespace datastream {

/// Sets what CAF leaves off by default and telemetry between processes needs: a heartbeat, so that
/// a frozen peer is noticed, and no automatic connections. Call it before the program's own
/// settings are read, which then prevail. Both processes need it: one that expects heartbeats cuts
/// a silent connection to a peer that sends none.
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
