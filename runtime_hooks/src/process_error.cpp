#include <datastream/hooks/process_error.hpp>

namespace datastream {

std::string_view to_string(ProcessError::Kind kind) {
  switch (kind) {
  case ProcessError::Kind::invalid_label:
    return "invalid_label";
  case ProcessError::Kind::label_in_use:
    return "label_in_use";
  case ProcessError::Kind::channel_refused:
    return "channel_refused";
  case ProcessError::Kind::invalid_command:
    return "invalid_command";
  case ProcessError::Kind::working_directory:
    return "working_directory";
  case ProcessError::Kind::not_found:
    return "not_found";
  case ProcessError::Kind::not_executable:
    return "not_executable";
  case ProcessError::Kind::spawn_failed:
    return "spawn_failed";
  case ProcessError::Kind::runner_ended:
    return "runner_ended";
  }
  return "unknown";
}

} // namespace datastream
