#include "self_observation.hpp"

#include <chrono>

namespace ds = datastream;
using namespace std::chrono_literals;

SelfObservation::SelfObservation(const ds::ActorObserver& observer,
                                 const ds::DatastreamProducer& out, const std::string& folder)
    : observer_(observer), actors_(std::make_shared<ds::ProducerStatsHook>(out)), runner_(out),
      host_(out, {.interval = 500ms}) {
  observer_.report_to(actors_);
  host_.start();
  // A failure is in the stream, as a `spawn_failed` record.
  if (auto child = runner_.start(
          {.argv = {"find", folder, "-name", "*.h", "-size", "+100k", "-printf", "%k KiB %p\\n"},
           .label = "find"}))
    child_ = std::move(*child);
}

void SelfObservation::stop() {
  observer_.report_to(nullptr);
  host_.stop();
  if (child_) {
    child_->stop(100ms);
    child_->wait(5s);
  }
}

Tally SelfObservation::tally() const {
  Tally sum{actors_->accepted() + host_.accepted(), actors_->refused() + host_.refused()};
  const ds::ProcessCounts processes = runner_.counts(); // also of a child that could not be started
  for (const auto& each :
       {processes.standard_output, processes.standard_error, processes.lifecycle})
    sum += {each.accepted_frames, each.refused_frames};
  return sum;
}
