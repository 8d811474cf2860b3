#pragma once
/// A handle to an endpoint, here or in another process.

#include <datastream/caf/version.hpp>

#include <caf/actor.hpp>
#include <caf/actor_addr.hpp>
#include <caf/actor_cast.hpp>

namespace datastream {

/// Names an actor that serves subscribers: an endpoint's or a fanout; it takes the messages of
/// `docs/messages.md`. Copy it, send it, keep it anywhere: it keeps nothing alive, neither the
/// endpoint nor its actor.
///
/// Thread safety: as a value.
class EndpointRef {
public:
  EndpointRef() = default;
  explicit EndpointRef(const caf::actor& endpoint) : address_(endpoint.address()) {}

  /// The actor, or null when nothing is left of it. Don't keep it for long: an actor system waits
  /// until nobody holds a handle to a detached actor.
  caf::actor actor() const { return caf::actor_cast<caf::actor>(address_); }
  /// Whether it names an actor, which may have ended since.
  explicit operator bool() const noexcept { return static_cast<bool>(address_); }

private:
  caf::actor_addr address_;
};

} // namespace datastream
