#include <datastream/actors/messages.hpp>

namespace datastream {

std::string to_string(ActorError error) {
  switch (error) {
  case ActorError::none:
    return "none";
  case ActorError::conflicting_name:
    return "conflicting_name";
  case ActorError::stream_ended:
    return "stream_ended";
  case ActorError::ids_exhausted:
    return "ids_exhausted";
  case ActorError::unknown_stream:
    return "unknown_stream";
  case ActorError::not_manual:
    return "not_manual";
  case ActorError::no_subscriber:
    return "no_subscriber";
  }
  return "unknown";
}

} // namespace datastream
