#include <datastream/actors/remote.hpp>

#include <datastream/caf/settings.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/io/middleman.hpp>

namespace datastream {

void recommended_settings(caf::actor_system_config& config) {
  using namespace std::chrono_literals;
  compat::set(config, "middleman.heartbeat-interval", caf::timespan(1s));
  compat::set(config, "middleman.connection-timeout", caf::timespan(5s));
  compat::set(config, "middleman.enable-automatic-connections", false);
}

std::expected<std::uint16_t, caf::error> publish(caf::actor_system& system,
                                                 const EndpointRef& endpoint, std::uint16_t port,
                                                 const std::string& address) {
  auto bound = system.middleman().publish(endpoint.actor(), port,
                                          address.empty() ? nullptr : address.c_str(), true);
  if (!bound)
    return std::unexpected(bound.error());
  return *bound;
}

std::expected<EndpointRef, caf::error> connect(caf::actor_system& system, const std::string& host,
                                               std::uint16_t port) {
  auto endpoint = system.middleman().remote_actor(host, port);
  if (!endpoint)
    return std::unexpected(endpoint.error());
  return EndpointRef(std::move(*endpoint));
}

} // namespace datastream
