#pragma once
/// Errors as text for people.

#include <datastream/caf/version.hpp>

#include <caf/actor_system.hpp>
#include <caf/error.hpp>

#include <string>

namespace datastream::compat {

/// What went wrong. CAF 0.17.6 asks the system for the names of codes.
inline std::string render([[maybe_unused]] const caf::actor_system& system,
                          const caf::error& error) {
#if DATASTREAM_CAF_1X
  return to_string(error);
#else
  return system.render(error);
#endif
}

} // namespace datastream::compat
