#include "peer_errors.hpp"

#include <datastream/caf/error_enum.hpp>
#include <datastream/log_sink.hpp>

#include <caf/actor_system.hpp>
#include <caf/scheduled_actor.hpp>

namespace datastream {

void survive_peer_errors(caf::scheduled_actor* self) {
  self->set_error_handler([self](const caf::error& error) {
    log_message(LogSeverity::warning, std::string(self->name()) +
                                          ": an error message of a peer was ignored: " +
                                          compat::error_text(self->system(), error));
  });
}

} // namespace datastream
