#include <datastream/actors/registry.hpp>

#include <datastream/caf/registry.hpp>
#include <datastream/caf/thread_logger.hpp>

#include <caf/actor_system.hpp>
#include <caf/io/middleman.hpp>

namespace datastream {

static_assert(publisher_name.key.size() <= compat::registry_key_max);

void register_publisher(caf::actor_system& system, const caf::actor& publisher) {
  system.registry().put(compat::registry_key(publisher_name.key), publisher);
}

void unregister_publisher(caf::actor_system& system) {
  system.registry().erase(compat::registry_key(publisher_name.key));
}

caf::actor find_publisher(caf::actor_system& system) {
  return caf::actor_cast<caf::actor>(
      system.registry().get(compat::registry_key(publisher_name.key)));
}

caf::actor find_publisher(caf::actor_system& system, const caf::node_id& node) {
  if (node == system.node())
    return find_publisher(system);
  if (!system.has_middleman())
    return nullptr;
  const compat::ThreadLogger thread(system);
  return caf::actor_cast<caf::actor>(
      system.middleman().remote_lookup(compat::registry_key(publisher_name.key), node));
}

} // namespace datastream
