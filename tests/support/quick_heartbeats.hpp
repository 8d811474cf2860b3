#pragma once
/// Connections whose silence is noticed soon.

#include <datastream/caf/settings.hpp>

#include <caf/actor_system_config.hpp>
#include <caf/timespan.hpp>

#include <chrono>

namespace datastream::test {

inline constexpr std::chrono::milliseconds quick_heartbeat{100};
inline constexpr std::chrono::milliseconds quick_timeout{400};

/// For a configuration that has loaded the middleman. Both processes need it; what a second process
/// is told for it is `quick`, as its first word.
inline void quick_heartbeats(caf::actor_system_config& config) {
  compat::set(config, "middleman.heartbeat-interval", caf::timespan(quick_heartbeat));
  compat::set(config, "middleman.connection-timeout", caf::timespan(quick_timeout));
}

} // namespace datastream::test
