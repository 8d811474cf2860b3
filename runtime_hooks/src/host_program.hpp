#pragma once
/// Runs a program that prints something, and does not rely on it.

#include <chrono>
#include <cstddef>
#include <expected>
#include <stop_token>
#include <string>
#include <sys/types.h>
#include <vector>

namespace datastream::host {

struct ProgramOutput {
  std::string text; ///< its standard output
  int status = 0;   ///< its exit code, or 128 and the signal that ended it
};

/// One program at a time. One that cannot be ended, since its driver hangs, is left alone, and no
/// other is started before it is gone: they would pile up.
///
/// Thread safety: one owner.
class HostProgram {
public:
  using Clock = std::chrono::steady_clock;

  /// Most that a program may print.
  static constexpr std::size_t output_bytes = 1U << 20U;

  HostProgram() = default;
  HostProgram(const HostProgram&) = delete;
  HostProgram& operator=(const HostProgram&) = delete;

  /// Runs `command`, without a shell, without input, with this process's environment, in a process
  /// group of its own, and waits for its end; kills the group at `deadline`, or when a stop is
  /// requested. Errors, in words: it cannot be started, did not end in time, or prints too much.
  std::expected<ProgramOutput, std::string>
  run(std::vector<std::string> command, Clock::time_point deadline, const std::stop_token& stop);

private:
  pid_t lingering_ = -1; ///< killed, and not gone yet
};

} // namespace datastream::host
