#pragma once
/// Keys of CAF's registry, which are atoms on 0.17.6 and strings on 1.x.

#include <datastream/caf/version.hpp>

#include <caf/actor_registry.hpp>
#if !DATASTREAM_CAF_1X
#include <caf/atom.hpp>
#endif

#include <string>
#include <string_view>

namespace datastream::compat {

/// Longer keys are confused with each other on 0.17.6, as are all characters besides letters,
/// digits and the underscore.
inline constexpr std::size_t registry_key_max = 10;

inline auto registry_key(std::string_view key) {
#if DATASTREAM_CAF_1X
  return std::string(key);
#else
  return caf::atom_from_string(std::string(key));
#endif
}

} // namespace datastream::compat
