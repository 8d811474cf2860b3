#include <datastream/actors/detail/peer_errors.hpp>

#include <datastream/caf/render.hpp>
#include <datastream/log_sink.hpp>

#include <caf/actor_system.hpp>

#include <string>

namespace datastream {

void log_peer_error(const caf::event_based_actor& self, const caf::error& error) {
  log_message(LogSeverity::warning,
              std::string(self.name()) +
                  " ignored an error that a peer sent: " + compat::render(self.system(), error));
}

} // namespace datastream
