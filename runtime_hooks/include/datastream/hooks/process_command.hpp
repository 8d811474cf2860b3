#pragma once
/// What to run, and how.

#include <datastream/hooks/process_event.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace datastream {

/// The environment of a process.
struct ProcessEnvironment {
  /// Begin with the environment that this program has at the start; otherwise with none.
  bool inherit = true;
  /// Variables to set, or, without a value, to remove.
  std::map<std::string, std::optional<std::string>> changes{};
};

/// Where one output of a process goes.
enum class OutputMode {
  capture, ///< to the stream
  discard, ///< to `/dev/null`
  inherit, ///< to where this program's own goes
};

/// One process to run. No shell is involved.
///
///     runner.start({.argv = {"python3", "-u", "train.py"}, .label = "trainer"})
struct ProcessCommand {
  /// The program and its arguments. A program without a slash is looked up in this program's PATH;
  /// a relative path counts from the working directory of the process.
  std::vector<std::string> argv{};
  /// Names the channels; absent: the last segment of the program's path. See `process_label`.
  std::optional<std::string> label{};
  /// Absent: that of this program.
  std::optional<std::filesystem::path> working_directory{};
  ProcessEnvironment environment{};
  OutputMode standard_output = OutputMode::capture;
  OutputMode standard_error = OutputMode::capture;

  /// Called once when the process itself has ended, after its `exited` record. Processes that it
  /// left behind may still hold its outputs open.
  std::function<void(const ProcessExit&)> on_exit{};
  /// Called once when all is over: the process has ended, its outputs are at their end, and its
  /// label is free again. Here it may be started anew, unless the runner is being destroyed: then
  /// `start` answers `runner_ended`.
  ///
  /// Both are called on the runner's thread: must not block; an exception is logged and ignored.
  /// They may use the handle, except that `wait` does not wait there, and may start processes. From
  /// here an actor is told, by a message to it.
  std::function<void(const ProcessExit&)> on_end{};
};

} // namespace datastream
