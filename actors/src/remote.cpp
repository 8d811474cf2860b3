#include <datastream/actors/remote.hpp>

#include <datastream/actors/detail/connecting.hpp>

#include <datastream/caf/render.hpp>
#include <datastream/caf/thread_logger.hpp>
#include <datastream/log_sink.hpp>

#include <caf/io/middleman.hpp>
#include <caf/scoped_actor.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace datastream {
namespace {

std::unexpected<caf::error> no_middleman() {
  return std::unexpected(caf::make_error(ActorError::no_middleman));
}

std::string to_string(const RemoteEndpoint& endpoint) {
  std::string text = endpoint.host + ":" + std::to_string(endpoint.port);
  return endpoint.name.empty() ? text : text + "/" + endpoint.name;
}

} // namespace

void Search::failed(const caf::actor_system& system, const RemoteEndpoint& endpoint,
                    const caf::error& reason) {
  if (!std::exchange(logged_, true))
    log_message(LogSeverity::warning, to_string(endpoint) + " is looked for until it is found: " +
                                          compat::render(system, reason));
}

void Search::found(const RemoteEndpoint& endpoint) {
  delay_ = {};
  if (std::exchange(logged_, false))
    log_message(LogSeverity::info, to_string(endpoint) + " was found");
}

std::chrono::milliseconds Search::next_delay(const RemoteEndpoint& endpoint) {
  const auto longest = std::max(endpoint.retry_first, endpoint.retry_most);
  delay_ = std::clamp(2 * delay_, endpoint.retry_first, longest);
  return delay_;
}

caf::actor connector_of(caf::actor_system& system, const RemoteEndpoint& endpoint) {
  if (endpoint.connector)
    return endpoint.connector;
  if (!system.has_middleman())
    return nullptr;
  return caf::actor_cast<caf::actor>(system.middleman().actor_handle());
}

std::expected<std::uint16_t, caf::error> publish(caf::actor_system& system, const caf::actor& actor,
                                                 std::uint16_t port, const std::string& address) {
  if (!system.has_middleman())
    return no_middleman();
  if (!actor)
    return std::unexpected(caf::make_error(ActorError::no_actor));
  const compat::ThreadLogger thread(system);
  auto bound =
      system.middleman().publish(actor, port, address.empty() ? nullptr : address.c_str(), true);
  if (!bound)
    return std::unexpected(bound.error());
  return *bound;
}

std::expected<std::uint16_t, caf::error> publish(caf::actor_system& system,
                                                 const EndpointRef& endpoint, std::uint16_t port,
                                                 const std::string& address) {
  return publish(system, endpoint.actor(), port, address);
}

std::expected<void, caf::error> unpublish(caf::actor_system& system, const caf::actor& actor,
                                          std::uint16_t port) {
  if (!system.has_middleman())
    return no_middleman();
  const compat::ThreadLogger thread(system);
  if (auto done = system.middleman().unpublish(actor, port); !done)
    return std::unexpected(done.error());
  return {};
}

std::expected<EndpointRef, caf::error> connect(caf::actor_system& system,
                                               const RemoteEndpoint& endpoint) {
  std::expected<EndpointRef, caf::error> result;
  const compat::ThreadLogger thread(system);
  caf::scoped_actor self{system};
  look_for(
      self.ptr(), endpoint, [&](const caf::actor& actor) { result = EndpointRef(actor); },
      [&](const caf::error& error) { result = std::unexpected(error); });
  return result;
}

std::expected<EndpointRef, caf::error> connect(caf::actor_system& system, const std::string& host,
                                               std::uint16_t port) {
  return connect(system, RemoteEndpoint{.host = host, .port = port});
}

} // namespace datastream
