#include <datastream/hooks/process_runner.hpp>

#include "process_loop.hpp"
#include "spawn.hpp"
#include "supervised_process.hpp"

#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace datastream {

struct ProcessRunner::State {
  const DatastreamProducer producer;
  const std::shared_ptr<ProcessOutputObserver> output;
  std::mutex mutex; // taken alone
  std::shared_ptr<ProcessLoop> loop{};

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
};

ProcessRunner::ProcessRunner(DatastreamProducer producer,
                             std::shared_ptr<ProcessOutputObserver> output)
    : state_(new State{std::move(producer), std::move(output), {}}) {}

ProcessRunner::~ProcessRunner() {
  if (state_->loop)
    state_->loop->shut_down();
}

std::expected<ManagedProcess, ProcessError> ProcessRunner::start(ProcessCommand command) {
  if (command.argv.empty())
    return std::unexpected(
        ProcessError{ProcessError::Kind::invalid_command, "a command without a program"});
  const auto label = process_label(command.label, command.argv.front());
  if (!label)
    return std::unexpected(label.error());
  auto channels = ProcessChannels::open(state_->producer, *label, state_->output);
  if (!channels)
    return std::unexpected(std::move(channels.error()));
  const auto failed = [&channels](ProcessError error) {
    (*channels)->publish(ProcessSpawnFailed{error.message});
    return std::unexpected(std::move(error));
  };

  auto loop = state_->running_loop();
  if (!loop)
    return failed(std::move(loop.error()));
  auto process = std::make_shared<SupervisedProcess>(
      (*loop)->io(), *channels, std::move(command.on_exit), std::move(command.on_end));
  auto spawned = spawn(command);
  if (!spawned)
    return failed(std::move(spawned.error()));
  if (auto watched = process->watch(std::move(*spawned)); !watched)
    return failed({ProcessError::Kind::spawn_failed,
                   "cannot watch '" + command.argv.front() + "': " + watched.error()});
  (*channels)->publish(ProcessStarted{process->pid()});
  (*loop)->adopt(process);
  return ManagedProcess{std::move(*loop), std::move(process)};
}

} // namespace datastream
