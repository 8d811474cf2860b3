#include <datastream/hooks/process_runner.hpp>

#include "process_loop.hpp"
#include "runner_counts.hpp"
#include "spawn.hpp"
#include "supervised_process.hpp"

#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace datastream {

struct ProcessRunner::State {
  const DatastreamProducer producer;
  const std::shared_ptr<ProcessOutputObserver> output;
  const std::shared_ptr<RunnerCounts> counts = std::make_shared<RunnerCounts>();
  std::mutex mutex{}; // taken alone; guards the two below
  std::shared_ptr<ProcessLoop> loop{};
  bool ending = false;

  /// The loop, from the first process on.
  std::expected<std::shared_ptr<ProcessLoop>, ProcessError> running_loop() {
    const std::lock_guard lock(mutex);
    try {
      if (!loop)
        loop = ProcessLoop::start();
      return loop;
    } catch (const std::runtime_error& error) { // the system's, or Boost's
      return std::unexpected(ProcessError{
          ProcessError::Kind::spawn_failed,
          std::string("the process runner's thread cannot be started: ") + error.what()});
    }
  }

  bool is_ending() {
    const std::lock_guard lock(mutex);
    return ending;
  }

  /// Starts no more. Returns the loop, if there is one.
  std::shared_ptr<ProcessLoop> begin_to_end() {
    const std::lock_guard lock(mutex);
    ending = true;
    return loop;
  }
};

ProcessRunner::ProcessRunner(DatastreamProducer producer,
                             std::shared_ptr<ProcessOutputObserver> output)
    : state_(new State{.producer = std::move(producer), .output = std::move(output)}) {}

ProcessRunner::~ProcessRunner() {
  // A callback that is past this point when it starts a process has it adopted by a loop that kills
  // it.
  if (const auto loop = state_->begin_to_end())
    loop->shut_down();
}

std::expected<ManagedProcess, ProcessError> ProcessRunner::start(ProcessCommand command) {
  if (state_->is_ending())
    return std::unexpected(
        ProcessError{ProcessError::Kind::runner_ended, "the process runner is being destroyed"});
  if (command.argv.empty())
    return std::unexpected(
        ProcessError{ProcessError::Kind::invalid_command, "a command without a program"});
  const auto label = process_label(command.label, command.argv.front());
  if (!label)
    return std::unexpected(label.error());
  auto opened = ProcessChannels::open(state_->producer, *label, state_->output);
  if (!opened)
    return std::unexpected(std::move(opened.error()));
  const auto channels = state_->counts->include(std::move(*opened));
  const auto failed = [&channels](ProcessError error) {
    channels->publish(ProcessSpawnFailed{error.message});
    return std::unexpected(std::move(error));
  };

  auto loop = state_->running_loop();
  if (!loop)
    return failed(std::move(loop.error()));
  auto process = std::make_shared<SupervisedProcess>(
      (*loop)->io(), channels, std::move(command.on_exit), std::move(command.on_end));
  auto spawned = spawn(command);
  if (!spawned)
    return failed(std::move(spawned.error()));
  if (auto watched = process->watch(std::move(*spawned)); !watched)
    return failed({ProcessError::Kind::spawn_failed,
                   "cannot watch '" + command.argv.front() + "': " + watched.error()});
  channels->publish(ProcessStarted{process->pid()});
  try {
    (*loop)->adopt(process);
  } catch (const std::bad_alloc&) {
    channels->publish(ProcessExited{process->kill_unwatched()});
    throw;
  }
  return ManagedProcess{std::move(*loop), std::move(process)};
}

ProcessCounts ProcessRunner::counts() const {
  return state_->counts->sum();
}

} // namespace datastream
