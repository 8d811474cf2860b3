#include <datastream/hooks_caf/actor_observer.hpp>

#include "installed_caf017.hpp"
#include "observing_scheduler_caf017.hpp"

#include <datastream/hooks_caf/spawn_observed_caf017.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/local_actor.hpp>
#include <caf/scheduler/coordinator.hpp>

namespace datastream {

ActorObserver::ActorObserver(ObserveOptions options)
    : observation_(std::make_shared<detail::Observation>(std::move(options))) {}

ActorObserver::~ActorObserver() {
  detail::uninstall(observation_);
  observation_->stop();
}

void ActorObserver::install(caf::actor_system_config& config) {
  detail::install_in(config, observation_);
}

void ActorObserver::install_everywhere(caf::actor_system_config& config) {
  install(config);
  config.load<caf::scheduler::coordinator<detail::ObservingWorkStealing>>();
}

void ActorObserver::report_to(std::shared_ptr<StatsHook> hook) const {
  observation_->report_to(std::move(hook));
}

namespace detail {

std::shared_ptr<ActorStats> stats_for(const caf::local_actor& actor) {
  auto observation = installed_in(actor.system().config());
  if (!observation)
    return nullptr;
  return std::make_shared<ActorStats>(std::move(observation), actor.id());
}

} // namespace detail
} // namespace datastream
