#include "observing_scheduler_caf017.hpp"

#include "installed_caf017.hpp"

#include <datastream/hooks_caf/spawn_observed_caf017.hpp>

#include <caf/actor_system.hpp>
#include <caf/scheduled_actor.hpp>

namespace datastream::detail {

ActorStatsPtr ScheduledActors::resuming(caf::resumable& job, std::size_t& waiting) {
  auto* const actor = observation_ ? dynamic_cast<caf::scheduled_actor*>(&job) : nullptr;
  if (!actor)
    return nullptr;
  const std::uint64_t id = actor->id();
  ActorStatsPtr stats;
  bool is_new = false;
  {
    const std::lock_guard lock(mutex_);
    const auto [it, inserted] = by_id_.try_emplace(id);
    is_new = inserted;
    if (is_new && !dynamic_cast<CountsItself*>(actor))
      it->second = std::make_shared<ActorStats>(observation_, id);
    stats = it->second;
  }
  if (is_new)
    actor->attach_functor(
        [self = weak_from_this(), id, stats, &system = actor->system()](const caf::error& reason) {
          if (stats)
            stats->end(poison_of(system, reason));
          if (const auto actors = self.lock()) {
            const std::lock_guard lock(actors->mutex_);
            actors->by_id_.erase(id);
          }
        });
  if (stats) {
    stats->resuming(*actor);
    waiting = actor->mailbox().size(); // ours alone until it has run
  }
  return stats;
}

std::shared_ptr<ScheduledActors>
scheduled_actors_of(caf::scheduler::abstract_coordinator& coordinator) {
  return std::make_shared<ScheduledActors>(installed_in(coordinator.system().config()));
}

} // namespace datastream::detail
