#pragma once
/// The fanouts to subscriber actors that are compared, behind one interface. In `actor_sides.cpp`,
/// so that rows need not include CAF.

#include "harness/placement.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace bench {

/// Called in a subscriber actor's handler for every frame.
using FrameReader =
    std::function<void(std::uint32_t channel, std::uint64_t position, std::string_view payload)>;

/// A publisher and its subscriber actors, one for each reader. All frames go through channel 1.
class ActorFanout {
public:
  virtual ~ActorFanout() = default;

  /// Frames that may be on their way to the slowest reader without one being lost.
  virtual std::size_t in_flight_max() const = 0;
  /// From one thread. False: refused, to be submitted again.
  virtual bool submit(std::string_view payload) = 0;
  /// Copies that will never arrive.
  virtual std::uint64_t lost() const = 0;
  /// Call once all readers have all frames.
  virtual void require_ledger(std::uint64_t accepted, std::uint64_t refused) const = 0;
};

/// Where the subscribers are.
enum class Where {
  same_system,
  other_node, ///< another actor system of this process, over TCP on 127.0.0.1
};

/// Each with one worker a CPU. Subscribed when they return.
std::unique_ptr<ActorFanout> our_actor_fanout(Where where, Placement placement,
                                              const std::vector<FrameReader>& readers);
std::unique_ptr<ActorFanout> caf_actor_fanout(Where where, Placement placement,
                                              const std::vector<FrameReader>& readers);

} // namespace bench
