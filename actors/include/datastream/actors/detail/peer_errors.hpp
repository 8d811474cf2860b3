#pragma once
/// Errors that other actors send to ours.

#include <datastream/caf/handlers.hpp>

#include <caf/error.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/local_actor.hpp>

#include <chrono>
#include <cstdint>
#include <memory>

namespace datastream {

/// Writes what errors come to an actor to the log, at most one a second: whoever sends them decides
/// how many there are.
class PeerErrorLog {
public:
  void note(const caf::local_actor& self, const caf::error& error);

private:
  std::chrono::steady_clock::time_point next_{}; ///< no line before that
  std::uint64_t unsaid_ = 0;                     ///< since the last one
};

/// For the list of an actor's handlers: an error that a peer sends, for example for a reply that it
/// did not expect, is its own affair. It goes to the log, and does not end the actor as CAF's
/// default would.
inline auto peer_errors(caf::event_based_actor* self) {
  return compat::handle_errors(self, [self, log = std::make_shared<PeerErrorLog>()](
                                         const caf::error& error) { log->note(*self, error); });
}

} // namespace datastream
