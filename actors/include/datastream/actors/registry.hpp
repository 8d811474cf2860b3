#pragma once
/// Finding our actors by CAF's registry.

#include <datastream/caf/version.hpp>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

#include <array>
#include <string_view>

namespace datastream {

/// A protocol's name and its key in CAF's registry, which tells only ten characters apart.
struct RegistryName {
  std::string_view protocol;
  std::string_view key;
};
inline constexpr RegistryName publisher_name{"datastream-publisher", "ds_publish"};
/// Of a sink for legacy envelopes (`datastream/envelope_caf/sink_actor.hpp`).
inline constexpr RegistryName sink_name{"datastream-sink", "ds_sink"};
/// Every key of ours.
inline constexpr std::array registry_names{publisher_name, sink_name};

/// Puts an actor into its system's registry. The registry keeps it alive until `unregister_actor`.
void register_actor(caf::actor_system& system, const RegistryName& name, const caf::actor& actor);
void unregister_actor(caf::actor_system& system, const RegistryName& name);
/// Null when none is registered.
caf::actor find_actor(caf::actor_system& system, const RegistryName& name);
/// Asks another node, to which there is a connection: `actor.node()` of any actor there. Null when
/// none is registered there. Blocks until the peer has answered, up to five minutes if it is
/// frozen, so not from an actor that shares CAF's workers.
caf::actor find_actor(caf::actor_system& system, const RegistryName& name,
                      const caf::node_id& node);

} // namespace datastream
