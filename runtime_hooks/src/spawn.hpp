#pragma once

#include "file_descriptor.hpp"

#include <datastream/hooks/process_command.hpp>
#include <datastream/hooks/process_error.hpp>
#include <datastream/hooks/process_event.hpp>

#include <csignal>
#include <expected>
#include <sys/types.h>

namespace datastream {

/// A process that runs, in a group of its own. Whoever has it must reap it.
struct SpawnedProcess {
  pid_t pid = -1;
  FileDescriptor pidfd{};           ///< none when it has ended and somebody else has reaped it
  FileDescriptor standard_output{}; ///< reading end, never blocks; none unless captured
  FileDescriptor standard_error{};  ///< the same
};

std::expected<SpawnedProcess, ProcessError> spawn(const ProcessCommand& command);

/// How a process has ended, as `waitid` says it.
ProcessExit exit_of(const siginfo_t& info) noexcept;

/// Ends a process that cannot be supervised, with its group, and says how it ended: unknown if it
/// may not be killed, and is left alone, or if somebody else has reaped it.
ProcessExit kill_and_reap(pid_t pid) noexcept;

} // namespace datastream
