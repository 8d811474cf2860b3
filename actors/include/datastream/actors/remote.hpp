#pragma once
/// Streams of other processes, over CAF's middleman.

#include <datastream/actors/endpoint_ref.hpp>
#include <datastream/defaults.hpp>

#include <caf/actor.hpp>
#include <caf/error.hpp>
#include <caf/fwd.hpp>

#include <chrono>
#include <cstdint>
#include <expected>
#include <string>

namespace datastream {

/// Where a stream of another process is to be found.
struct RemoteEndpoint {
  std::string host;
  std::uint16_t port = 0; ///< of `publish`
  /// Set when a `Publisher` is published at the port: what it is to find.
  std::string name{};
  /// How long to wait for an answer to each step of looking for it.
  std::chrono::milliseconds timeout = defaults::connect_timeout;
  /// Between two times that it is looked for: at first, and at most. Never more often than at
  /// first.
  std::chrono::milliseconds retry_first = defaults::retry_first;
  std::chrono::milliseconds retry_most = defaults::retry_most;
  /// Who connects: by default the system's middleman. For TLS:
  /// `caf::actor_cast<caf::actor>(system.openssl_manager().actor_handle())`.
  caf::actor connector{};
};

/// Lets other processes reach an endpoint, a fanout or a publisher. Port 0 takes any free port.
/// Listens on loopback unless another address is given; the empty address means all. Returns the
/// port. Blocks for a short while. Errors: `no_middleman`, or why the port cannot be had.
std::expected<std::uint16_t, caf::error> publish(caf::actor_system& system, const caf::actor& actor,
                                                 std::uint16_t port,
                                                 const std::string& address = "127.0.0.1");
std::expected<std::uint16_t, caf::error> publish(caf::actor_system& system,
                                                 const EndpointRef& endpoint, std::uint16_t port,
                                                 const std::string& address = "127.0.0.1");
/// Closes the port; connections that are open stay. Blocks for a short while. Errors: CAF's, when
/// nothing was published there.
std::expected<void, caf::error> unpublish(caf::actor_system& system, const caf::actor& actor,
                                          std::uint16_t port);

/// Finds an endpoint that another process has published. Blocks until the peer answers or refuses,
/// or the timeout of each step has passed, so not from an actor that shares CAF's workers. Errors:
/// `no_middleman`, `no_actor` when nothing is published at that port, `unknown_name`, or CAF's.
std::expected<EndpointRef, caf::error> connect(caf::actor_system& system,
                                               const RemoteEndpoint& endpoint);
std::expected<EndpointRef, caf::error> connect(caf::actor_system& system, const std::string& host,
                                               std::uint16_t port);

} // namespace datastream
