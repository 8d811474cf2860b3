#pragma once
/// CAF 0.17.6's own scheduling, with a look at every actor that it resumes.

#include "observation.hpp"

#include <caf/policy/work_stealing.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace datastream::detail {

/// The actors that a scheduler has resumed.
///
/// Thread safety: every function may be called from any thread.
class ScheduledActors : public std::enable_shared_from_this<ScheduledActors> {
public:
  explicit ScheduledActors(std::shared_ptr<Observation> observation)
      : observation_(std::move(observation)) {}

  /// What is counted of an actor that is about to run here, and how many messages wait for it.
  /// Null for what is no actor, or counts itself, and when there is no memory to count with.
  ActorStatsPtr resuming(caf::resumable& job, std::size_t& waiting) noexcept;

private:
  ActorStatsPtr stats_of(caf::scheduled_actor& actor);

  const std::shared_ptr<Observation> observation_; // null: nobody observes
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, ActorStatsPtr> by_id_;
};

std::shared_ptr<ScheduledActors> scheduled_actors_of(caf::scheduler::abstract_coordinator& system);

class ObservingWorkStealing : public caf::policy::work_stealing {
public:
  struct worker_data : caf::policy::work_stealing::worker_data {
    explicit worker_data(caf::scheduler::abstract_coordinator* coordinator)
        : caf::policy::work_stealing::worker_data(coordinator),
          actors(scheduled_actors_of(*coordinator)) {}

    std::shared_ptr<ScheduledActors> actors; // of all workers
    ActorStatsPtr running{};
    std::size_t waiting = 0;
    std::chrono::steady_clock::time_point resumed{};
  };

  template <class Worker>
  void before_resume(Worker* worker, caf::resumable* job) {
    worker_data& data = worker->data();
    data.running = data.actors->resuming(*job, data.waiting);
    data.resumed = std::chrono::steady_clock::now();
  }

  /// The actor may be somebody else's by now, or gone.
  template <class Worker>
  void after_resume(Worker* worker, caf::resumable*) {
    worker_data& data = worker->data();
    if (!data.running)
      return;
    const auto busy = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now() - data.resumed);
    data.running->resumed(worker->id(), static_cast<std::uint64_t>(busy.count()), data.waiting);
    data.running = nullptr;
  }
};

} // namespace datastream::detail
