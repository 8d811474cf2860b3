#pragma once
/// Looking for an actor of another process, one answer at a time.

#include <datastream/actors/remote.hpp>
#include <datastream/actors/type_ids.hpp>
#include <datastream/caf/send.hpp>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/node_id.hpp>
#include <caf/sec.hpp>

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

namespace datastream {

/// Whom to ask for connections; null without a middleman.
caf::actor connector_of(caf::actor_system& system, const RemoteEndpoint& endpoint);

/// Looking for an actor of another process until it is found.
class Search {
public:
  /// It was not found. The log tells it the first time.
  void failed(const caf::actor_system& system, const RemoteEndpoint& endpoint,
              const caf::error& reason);
  /// The log tells it, if it has told that it was not.
  void found(const RemoteEndpoint& endpoint);
  /// How long to wait before looking again: `retry_first` after it was found, or at the beginning,
  /// then twice as long each time, up to `retry_most`.
  std::chrono::milliseconds next_delay(const RemoteEndpoint& endpoint);

private:
  std::chrono::milliseconds delay_{0};
  bool logged_ = false;
};

/// Asks, and calls one of the two functions: later, when `Self` is event-based, or before it
/// returns, when it blocks.
template <class Self, class Timeout, class OnAnswer, class OnError, class... Ts>
void ask(Self* self, const caf::actor& to, Timeout timeout, OnAnswer on_answer, OnError on_error,
         Ts&&... parts) {
  if constexpr (std::is_base_of_v<caf::scheduled_actor, Self>)
    compat::request(self, to, timeout, std::forward<Ts>(parts)...)
        .then(std::move(on_answer), std::move(on_error));
  else
    compat::request(self, to, timeout, std::forward<Ts>(parts)...)
        .receive(std::move(on_answer), std::move(on_error));
}

/// Connects and finds. Calls one of the two functions, as `ask` does.
template <class Self>
void look_for(Self* self, const RemoteEndpoint& endpoint,
              std::function<void(const caf::actor&)> on_found,
              std::function<void(const caf::error&)> on_error) {
  const caf::actor connector = connector_of(self->system(), endpoint);
  if (!connector)
    return on_error(caf::make_error(ActorError::no_middleman));
  const auto connected = [self, name = endpoint.name, timeout = endpoint.timeout, on_found,
                          on_error](const caf::node_id&, const caf::strong_actor_ptr& there,
                                    const std::set<std::string>&) {
    const auto actor = caf::actor_cast<caf::actor>(there);
    if (!actor)
      return on_error(caf::make_error(ActorError::no_actor));
    if (name.empty())
      return on_found(actor);
    ask(self, actor, timeout, on_found, on_error, find_atom_v, name);
  };
  // CAF 0.17.6 takes a connection that it opens in the moment of a heartbeat for one that has been
  // silent for too long: try that once more.
  const auto cut_off = [=](const caf::error& error) {
    if (error != caf::sec::connection_timeout)
      return on_error(error);
    ask(self, connector, endpoint.timeout, connected, on_error, caf::connect_atom_v, endpoint.host,
        endpoint.port);
  };
  ask(self, connector, endpoint.timeout, connected, cut_off, caf::connect_atom_v, endpoint.host,
      endpoint.port);
}

} // namespace datastream
