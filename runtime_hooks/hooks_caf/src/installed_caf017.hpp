#pragma once
/// Which observation belongs to which configuration: CAF 0.17.6 has no place of its own for that.

#include "observation.hpp"

#include <caf/fwd.hpp>

#include <memory>

namespace datastream::detail {

/// Null when nobody observes the system of this configuration.
std::shared_ptr<Observation> installed_in(const caf::actor_system_config& config);
void install_in(const caf::actor_system_config& config, std::shared_ptr<Observation> observation);
void uninstall(const std::shared_ptr<Observation>& observation);

} // namespace datastream::detail
