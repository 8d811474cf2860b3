#include <datastream/actors/registry.hpp>

#include <datastream/caf/registry.hpp>
#include <datastream/caf/thread_logger.hpp>

#include <caf/actor_system.hpp>
#include <caf/io/middleman.hpp>

#include <algorithm>

namespace datastream {

static_assert(std::ranges::all_of(registry_names, [](const RegistryName& name) {
  return name.key.size() <= compat::registry_key_max;
}));

void register_actor(caf::actor_system& system, const RegistryName& name, const caf::actor& actor) {
  system.registry().put(compat::registry_key(name.key), actor);
}

void unregister_actor(caf::actor_system& system, const RegistryName& name) {
  system.registry().erase(compat::registry_key(name.key));
}

caf::actor find_actor(caf::actor_system& system, const RegistryName& name) {
  return caf::actor_cast<caf::actor>(system.registry().get(compat::registry_key(name.key)));
}

caf::actor find_actor(caf::actor_system& system, const RegistryName& name,
                      const caf::node_id& node) {
  if (node == system.node())
    return find_actor(system, name);
  if (!system.has_middleman())
    return nullptr;
  const compat::ThreadLogger thread(system);
  return caf::actor_cast<caf::actor>(
      system.middleman().remote_lookup(compat::registry_key(name.key), node));
}

} // namespace datastream
