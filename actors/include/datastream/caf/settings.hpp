#pragma once
/// CAF's settings, whose names moved in 1.x.

#include <datastream/caf/version.hpp>

#include <caf/actor_system_config.hpp>
#include <caf/settings.hpp>

#include <string>
#include <utility>

namespace datastream::compat {

/// The full name of a CAF setting, for example `setting("middleman.heartbeat-interval")`.
inline std::string setting(const char* name) {
#if DATASTREAM_CAF_1X
  return std::string("caf.") + name;
#else
  return name;
#endif
}

/// Changes a CAF setting, by the name that 0.17.6 gives it. CAF 1.x forgets what was set for a
/// module before it was loaded.
template <class T>
void set(caf::actor_system_config& config, const char* name, T value) {
#if DATASTREAM_CAF_1X
  caf::put(config.content, setting(name), std::move(value));
#else
  config.set(setting(name), std::move(value));
#endif
}

} // namespace datastream::compat
