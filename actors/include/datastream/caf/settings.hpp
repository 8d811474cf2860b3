#pragma once
/// Names of CAF's settings, which moved in 1.x.

#include <datastream/caf/version.hpp>

#include <string>

namespace datastream::compat {

/// The full name of a CAF setting, for example `setting("middleman.heartbeat-interval")`.
inline std::string setting(const char* name) {
#if DATASTREAM_CAF_1X
  return std::string("caf.") + name;
#else
  return name;
#endif
}

} // namespace datastream::compat
