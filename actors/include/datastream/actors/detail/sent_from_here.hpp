#pragma once
/// Whether another process is asking.

#include <datastream/caf/version.hpp>

#include <caf/actor_control_block.hpp>
#include <caf/actor_system.hpp>
#include <caf/scheduled_actor.hpp>

namespace datastream {

/// Whether an actor of this process sent the message that `self` is handling. Other processes may
/// read what actors have, but not change what they keep. No sender: false.
inline bool sent_from_here(caf::scheduled_actor& self) {
  const auto& from = self.current_sender();
  return from && from->node() == self.system().node();
}

} // namespace datastream
