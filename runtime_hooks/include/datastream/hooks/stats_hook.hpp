#pragma once
/// Through what a runtime tells about its actors (specification 4.3).

#include <datastream/records/actors.hpp>

#include <cstddef>
#include <span>

namespace datastream {

/// Called by a runtime that observes its actors.
class StatsHook {
public:
  virtual ~StatsHook() = default;
  /// Reports the actors that ran on a worker, at most so often as the runtime is told to. Called on
  /// the worker's thread or on one of the runtime's own: must not block, must not throw.
  /// `snapshots` is valid during the call. `omitted`: actors beyond the runtime's
  /// bound on how many it reports.
  virtual void on_tick(std::size_t worker_id, std::span<const ActorSnapshot> snapshots,
                       std::size_t omitted) = 0;
};

} // namespace datastream
