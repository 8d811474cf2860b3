#pragma once
/// Learning that another actor is gone.

#include <datastream/caf/send.hpp>

#include <caf/actor.hpp>
#include <caf/actor_addr.hpp>
#include <caf/actor_cast.hpp>
#include <caf/error.hpp>

#include <utility>

namespace datastream::compat {

/// Sends `parts...` to `watcher` when `target` ends, however it ends, also when the connection to
/// its process breaks. Takes no handler slot of the watcher and keeps neither actor alive. It can
/// not be taken back: watch a target once.
template <class... Ts>
void notify_when_down(const caf::actor& target, const caf::actor& watcher, Ts... parts) {
  target->attach_functor(
      [to = caf::actor_cast<caf::actor_addr>(watcher), parts...](const caf::error& reason) {
        if (auto alive = caf::actor_cast<caf::actor>(to))
          compat::anon_send(alive, parts..., reason);
      });
}

} // namespace datastream::compat
