#pragma once
/// What `proc.LABEL.lifecycle` says about a process.

#include <string>
#include <string_view>
#include <variant>

namespace datastream {

/// How a process ended.
struct ProcessExit {
  enum class Kind {
    code,    ///< it exited; `value` is its code
    signal,  ///< `value` is the signal that ended it
    unknown, ///< somebody else in this program has reaped it, or the program ignores SIGCHLD, or it
             ///< was given up since it may not be killed
  };
  Kind kind = Kind::unknown;
  int value = 0;

  bool success() const { return kind == Kind::code && value == 0; }
  friend bool operator==(const ProcessExit&, const ProcessExit&) = default;
};

struct ProcessStarted {
  int pid = 0;
};
/// It never ran.
struct ProcessSpawnFailed {
  std::string error;
};
/// The process itself has ended. Output of processes that it left behind may follow.
struct ProcessExited {
  ProcessExit status;
};
/// Something went wrong while it was watched, for example reading its output.
struct ProcessFault {
  std::string error;
};

using ProcessEvent = std::variant<ProcessStarted, ProcessSpawnFailed, ProcessExited, ProcessFault>;

/// Schema of the lifecycle channels.
inline constexpr std::string_view process_lifecycle_schema = "swactor_process.lifecycle.v1";

/// The record of an event, for example `{"event":"exited","status":{"kind":"code","value":0}}`.
std::string to_json(const ProcessEvent& event);

} // namespace datastream
