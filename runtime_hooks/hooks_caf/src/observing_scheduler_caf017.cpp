#include "observing_scheduler_caf017.hpp"

#include "installed_caf017.hpp"

#include <datastream/hooks_caf/spawn_observed_caf017.hpp>

#include <caf/actor_system.hpp>
#include <caf/scheduled_actor.hpp>

#include <new>

namespace datastream::detail {

ActorStatsPtr ScheduledActors::resuming(caf::resumable& job, std::size_t& waiting) noexcept {
  auto* const actor = observation_ ? dynamic_cast<caf::scheduled_actor*>(&job) : nullptr;
  if (!actor)
    return nullptr;
  try {
    ActorStatsPtr stats = stats_of(*actor);
    if (stats) {
      stats->resuming(*actor);
      waiting = actor->mailbox().size(); // ours alone until it has run
    }
    return stats;
  } catch (const std::bad_alloc&) {
    return nullptr; // it is looked at again when it runs the next time
  }
}

ActorStatsPtr ScheduledActors::stats_of(caf::scheduled_actor& actor) {
  const std::uint64_t id = actor.id();
  const auto forget = [id](ScheduledActors& actors) {
    const std::lock_guard lock(actors.mutex_);
    actors.by_id_.erase(id);
  };
  ActorStatsPtr stats;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = by_id_.find(id); known != by_id_.end())
      return known->second;
    if (!dynamic_cast<CountsItself*>(&actor))
      stats = std::make_shared<ActorStats>(observation_, id);
    by_id_.emplace(id, stats);
  }
  try {
    actor.attach_functor([self = weak_from_this(), forget, stats,
                          &system = actor.system()](const caf::error& reason) {
      if (stats)
        stats->end(system, reason);
      if (const auto actors = self.lock())
        forget(*actors);
    });
  } catch (...) {
    forget(*this);
    throw;
  }
  return stats;
}

std::shared_ptr<ScheduledActors>
scheduled_actors_of(caf::scheduler::abstract_coordinator& coordinator) {
  return std::make_shared<ScheduledActors>(installed_in(coordinator.system().config()));
}

} // namespace datastream::detail
