#pragma once
/// Errors that other actors send to ours.

#include <caf/fwd.hpp>

namespace datastream {

/// An error that a peer sends, for example for a reply that it did not expect, is its own affair:
/// it goes to the log, and does not end the actor as CAF's default would.
void survive_peer_errors(caf::scheduled_actor* self);

} // namespace datastream
