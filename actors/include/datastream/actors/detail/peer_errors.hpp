#pragma once
/// Errors that other actors send to ours.

#include <datastream/caf/handlers.hpp>

#include <caf/error.hpp>
#include <caf/event_based_actor.hpp>

namespace datastream {

void log_peer_error(const caf::event_based_actor& self, const caf::error& error);

/// For the list of an actor's handlers: an error that a peer sends, for example for a reply that it
/// did not expect, is its own affair. It goes to the log, and does not end the actor as CAF's
/// default would.
inline auto peer_errors(caf::event_based_actor* self) {
  return compat::handle_errors(self,
                               [self](const caf::error& error) { log_peer_error(*self, error); });
}

} // namespace datastream
