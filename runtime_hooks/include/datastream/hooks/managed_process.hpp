#pragma once
/// The handle of a process that a `ProcessRunner` runs.

#include <datastream/hooks/process_channels.hpp>
#include <datastream/hooks/process_event.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace datastream {

class ProcessLoop;
class SupervisedProcess;

/// One process and its process group: the processes that it starts, unless they leave the group.
///
/// Ownership: move-only, and owns the process. Destroying it, or assigning over it, kills the group
/// and waits until the process is reaped and its callbacks have returned; milliseconds, unless the
/// kernel cannot end it. One that may not be killed is given up, see `ProcessRunner`. Call `stop`
/// and wait for `on_end` first where even that is too long. On the runner's thread, in a callback,
/// it does not wait. A handle may outlive its runner; its process does not. Only destroy a handle
/// that was moved from, or assign to it. Thread safety: const functions and `stop` may be called
/// from any thread.
class ManagedProcess {
public:
  /// How long `stop` waits before it kills.
  static constexpr std::chrono::milliseconds default_grace{5000};

  ManagedProcess(ManagedProcess&& other) noexcept;
  ManagedProcess& operator=(ManagedProcess&& other) noexcept;
  ~ManagedProcess();

  /// Also the id of its group. The number may belong to another process once this one has ended.
  int pid() const noexcept;
  const std::string& label() const noexcept;

  /// How the process itself ended; nothing while it runs.
  std::optional<ProcessExit> exit_status() const;

  /// Waits until all is over, see `ProcessCommand::on_end`, at most `timeout`. Returns whether it
  /// is. Blocks; on the runner's thread it only looks.
  bool wait(std::chrono::milliseconds timeout) const;

  /// Asks the group to end (SIGTERM, and SIGCONT for what is suspended), and kills what is left of
  /// it (SIGKILL) after `grace`, or as soon as the process has ended and its outputs are closed.
  /// Returns at once; `wait` and `on_end` tell the end. A grace of zero kills without asking.
  /// Called again, the earlier time counts.
  ///
  /// What has left the group is not reached. If it holds the outputs open, they are read no more
  /// after the kill.
  void stop(std::chrono::milliseconds grace = default_grace);

  /// What was submitted for it so far.
  ProcessCounts counts() const;

private:
  friend class ProcessRunner;
  ManagedProcess(std::shared_ptr<ProcessLoop> loop,
                 std::shared_ptr<SupervisedProcess> process) noexcept;
  void end() noexcept;

  std::shared_ptr<ProcessLoop> loop_; // first: the process uses it
  std::shared_ptr<SupervisedProcess> process_;
};

} // namespace datastream
