#include "forged_event.hpp"

#include <datastream/actors/type_ids.hpp>

#include <caf/detail/meta_object.hpp>
#include <caf/init_global_meta_objects.hpp>

namespace {

struct Forged {
  datastream::wire::Event event;
};
template <class Inspector>
bool inspect(Inspector& f, Forged& x) {
  return f.apply(x.event);
}

} // namespace

// Types travel as their numbers.
template <>
struct caf::type_id<Forged> : caf::type_id<datastream::EventBatch> {};

void announce_forged_events(caf::actor_system_config&) {
  caf::core::init_global_meta_objects();
  // What is in the table already stays when our message types are added to it.
  const auto table = caf::detail::resize_global_meta_objects(caf::id_block::datastream::end);
  table[caf::type_id_v<Forged>] = caf::detail::make_meta_object<Forged>("datastream::EventBatch");
}

caf::message forged_delivery(std::uint64_t token, const datastream::wire::Event& event) {
  return caf::make_message(datastream::event_atom_v, token, Forged{event});
}
