#pragma once
/// A handle to an endpoint, here or in another process.

#include <caf/actor.hpp>

#include <utility>

namespace datastream {

/// Names an endpoint's actor; it takes the messages of `docs/messages.md`. Copy it, send it, keep
/// it: it does not keep the endpoint open. But let go of it before the actor system ends, which
/// waits until nobody holds a handle to a detached actor; actors let go when they end.
///
/// Thread safety: as a value.
class EndpointRef {
public:
  EndpointRef() = default;
  explicit EndpointRef(caf::actor endpoint) : actor_(std::move(endpoint)) {}

  const caf::actor& actor() const& noexcept { return actor_; }
  /// By value: `endpoint.ref().actor()` must not refer into a temporary.
  caf::actor actor() && noexcept { return std::move(actor_); }
  explicit operator bool() const noexcept { return static_cast<bool>(actor_); }

private:
  caf::actor actor_;
};

} // namespace datastream
