#pragma once
/// See `spawn_observed.hpp`.

#include <datastream/caf/version.hpp>

#include <caf/actor_system.hpp>
#include <caf/spawn_options.hpp>

#include <utility>

namespace datastream {

template <class T, caf::spawn_options Os = caf::no_spawn_options, class... Ts>
auto spawn_observed(caf::actor_system& system, Ts&&... arguments) {
  return system.spawn<T, Os>(std::forward<Ts>(arguments)...);
}

template <caf::spawn_options Os = caf::no_spawn_options, class F, class... Ts>
auto spawn_observed(caf::actor_system& system, F function, Ts&&... arguments) {
  return system.spawn<Os>(std::move(function), std::forward<Ts>(arguments)...);
}

} // namespace datastream
