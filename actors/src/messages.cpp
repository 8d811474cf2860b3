#include <datastream/actors/messages.hpp>

namespace datastream {

bool PublicationLedger::balanced() const {
  return arrived == published + bitbucketed + fanout.frames_after_end && fanout.balanced();
}

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
  case ActorError::unknown_name:
    return "unknown_name";
  case ActorError::name_taken:
    return "name_taken";
  case ActorError::not_local:
    return "not_local";
  case ActorError::no_actor:
    return "no_actor";
  case ActorError::no_middleman:
    return "no_middleman";
  case ActorError::bad_setting:
    return "bad_setting";
  case ActorError::out_of_memory:
    return "out_of_memory";
  }
  return "unknown";
}

} // namespace datastream
