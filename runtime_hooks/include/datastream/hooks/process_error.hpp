#pragma once
/// Why a process could not be started.

#include <string>
#include <string_view>

namespace datastream {

struct ProcessError {
  enum class Kind {
    invalid_label,     ///< nothing is left of the label once it is normalised
    label_in_use,      ///< a live process of this stream has the label
    channel_refused,   ///< the catalog refused a channel: the stream has ended, or other content
    invalid_command,   ///< no program, or a zero byte or an `=` where none can be
    working_directory, ///< it is missing, no directory, or closed to us
    not_found,         ///< no such program, or the interpreter that its first line names
    not_executable,    ///< it is there and cannot be executed
    spawn_failed,      ///< the system refused: descriptors, memory, processes, size of arguments
    runner_ended,      ///< the runner is being destroyed
  };
  Kind kind;
  std::string message; ///< names the program, channel or directory
  friend bool operator==(const ProcessError&, const ProcessError&) = default;
};

std::string_view to_string(ProcessError::Kind kind);

} // namespace datastream
