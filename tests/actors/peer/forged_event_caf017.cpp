#include "forged_event.hpp"

#include <datastream/actors/type_ids.hpp>

#include <caf/make_message.hpp>

namespace {

struct Forged {
  datastream::wire::Event event;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, Forged& x) {
  return f(caf::meta::type_name("Forged"), x.event);
}

} // namespace

void announce_forged_events(caf::actor_system_config& config) {
  config.add_message_type<Forged>("datastream::EventBatch"); // types travel as their names
}

caf::message forged_delivery(std::uint64_t token, const datastream::wire::Event& event) {
  return caf::make_message(datastream::event_atom_v, token, Forged{event});
}
