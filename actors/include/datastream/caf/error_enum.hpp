#pragma once
/// Turning an enumeration of ours into an error category of CAF, and errors into text.

#include <datastream/caf/version.hpp>

#include <caf/actor_system.hpp>
#include <caf/error.hpp>
#include <caf/make_message.hpp>
#include <caf/message.hpp>

#include <string>

/// At global scope, once per enumeration, which has a `to_string`. The category's name has at most
/// ten characters.
#if DATASTREAM_CAF_1X
#define DATASTREAM_CAF_ERROR_ENUM(type, category) CAF_ERROR_CODE_ENUM(type)
#else
#define DATASTREAM_CAF_ERROR_ENUM(type, category) CAF_ERROR_CODE_ENUM(type, category)
#endif

namespace datastream::compat {

/// For people to read.
inline std::string error_text([[maybe_unused]] const caf::actor_system& system,
                              const caf::error& error) {
#if DATASTREAM_CAF_1X
  return caf::to_string(error);
#else
  return system.render(error);
#endif
}

} // namespace datastream::compat
