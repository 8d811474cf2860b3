#pragma once
/// Runs programs and captures their output (specification 4.3).

#include <datastream/hooks/managed_process.hpp>
#include <datastream/hooks/process_command.hpp>
#include <datastream/hooks/process_error.hpp>
#include <datastream/hooks/process_output_observer.hpp>
#include <datastream/pipe/producer.hpp>

#include <cstddef>
#include <expected>
#include <memory>

namespace datastream {

/// Starts processes and submits what they write, and what happens to them, to a stream.
///
///     ProcessRunner runner{endpoint.producer()};
///     auto trainer = runner.start({.argv = {"python3", "-u", "train.py"}, .label = "trainer"});
///     if (!trainer)
///       return fail(trainer.error().message);
///     ...
///     trainer->stop();
///
/// Channels: `proc.trainer.stdout`, `proc.trainer.stderr` and `proc.trainer.lifecycle`, see
/// `ProcessChannels`. Lifecycle records are `started`, `spawn_failed`, `exited` and `error`.
///
/// Output is read by one thread for all processes, from the first `start` on. Each read of at most
/// 8192 bytes is one frame: any bytes, cut anywhere. The order within one output is kept; between
/// the two there is none. Everything that a process wrote itself comes before its `exited` record;
/// what comes after that was written by processes that it left behind. A process is never held up:
/// what the mux refuses is dropped and counted, lifecycle records included; the handle and the
/// callbacks tell the end in any case. Where memory is short, work waits until there is some.
///
/// A process runs in a process group of its own, with `/dev/null` as standard input, default signal
/// dispositions, an empty signal mask, and no descriptor of this program but the three standard
/// ones. Signal handlers, dispositions and masks of this program are neither used nor changed. A
/// program that waits for any child (`waitpid(-1)`) or ignores SIGCHLD takes exit statuses away
/// from the runner: they are then `unknown`, and what is left of the group can't be killed.
/// If this program is killed itself, its processes live on; their writes then fail (SIGPIPE).
///
/// Until its outputs are at their end, a process that has ended stays a zombie: that keeps its
/// group's number from being given to others whom `stop` would then kill.
///
/// A process that runs as another user, for example a program with the set-user-ID bit, may be out
/// of the reach of this program's signals. An `error` record says so when it should be stopped.
/// When its handle or the runner is destroyed it is given up: its outputs are closed, its exit is
/// told as `unknown`, and should it end after all, it stays a zombie until this program ends.
///
/// Ownership: destroying the runner kills all its processes, waits until they are reaped and their
/// callbacks have returned, and ends its thread; on that thread, in a callback, it does not wait,
/// and callbacks that come later must not use it. What callbacks start meanwhile is refused or
/// killed. Thread safety: `start` and `counts` may be called from any thread and from actors.
class ProcessRunner {
public:
  /// Largest chunk, in bytes: as peers of this protocol have it.
  static constexpr std::size_t chunk_bytes = 8192;

  /// `output`: where chunks go instead of to the processes' own channels, for example a
  /// `ProducerOutputObserver`. Called on the runner's thread. One that throws loses the chunk, and
  /// an `error` record says so.
  explicit ProcessRunner(DatastreamProducer producer,
                         std::shared_ptr<ProcessOutputObserver> output = nullptr);
  ~ProcessRunner();
  ProcessRunner(const ProcessRunner&) = delete;
  ProcessRunner& operator=(const ProcessRunner&) = delete;

  /// Starts a process. Takes as long as the system needs to execute the program, about a
  /// millisecond; waits for nothing else. Must not run while another thread changes the environment
  /// (`setenv`).
  /// Errors: see `ProcessError`; when its label was accepted, a `spawn_failed` record says so too.
  /// `runner_ended`: in a callback, when the runner's destruction has begun. Throws
  /// `std::bad_alloc`; the process is then killed if it has begun.
  std::expected<ManagedProcess, ProcessError> start(ProcessCommand command);

  /// What was submitted so far for all its processes together: also for those that have ended,
  /// whose handles are gone, or that could not be started.
  ProcessCounts counts() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace datastream
