#pragma once
/// What the node tells about itself besides its work: its actors, a child process, its host.

#include "tally.hpp"

#include <datastream/hooks/host_sampler.hpp>
#include <datastream/hooks/process_runner.hpp>
#include <datastream/hooks/producer_stats_hook.hpp>
#include <datastream/hooks_caf/actor_observer.hpp>

#include <memory>
#include <optional>
#include <string>

/// Ownership: lives as long as the node works; `stop` before the stream ends.
class SelfObservation {
public:
  /// The child lists the files below `folder`.
  SelfObservation(const datastream::ActorObserver& observer,
                  const datastream::DatastreamProducer& out, const std::string& folder);

  /// Observes no more. Afterwards `tally` is final.
  void stop();
  /// What `submit` answered all of this.
  Tally tally() const;

private:
  const datastream::ActorObserver& observer_;
  std::shared_ptr<datastream::ProducerStatsHook> actors_;
  datastream::ProcessRunner runner_;
  std::optional<datastream::ManagedProcess> child_;
  datastream::HostSampler host_;
};
