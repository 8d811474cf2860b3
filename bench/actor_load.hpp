#pragma once
/// The closed loop of the rows that feed subscriber actors: frames are submitted as fast as they
/// get through without loss.

#include "actor_sides.hpp"
#include "harness/clock.hpp"
#include "harness/compare.hpp"
#include "harness/payloads.hpp"
#include "harness/progress.hpp"
#include "harness/require.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace bench {

using MakeActorFanout = std::unique_ptr<ActorFanout> (*)(Where, Placement,
                                                         const std::vector<FrameReader>&);

struct ActorLoad {
  const PayloadSet& payloads;
  std::size_t frames;
  std::size_t subscribers;
  Where where;
  Placement placement;
};

/// Nanoseconds a frame until every subscriber has it. `Reader` is one of the two checks.
template <class Reader>
double feed_actors(const ActorLoad& load, MakeActorFanout make,
                   std::vector<Progress<Reader>>& progress) {
  const Confined confined{load.placement};
  std::vector<FrameReader> readers;
  for (auto& reader : progress)
    readers.push_back(std::ref(reader));
  const auto fanout = make(load.where, load.placement, readers);

  const auto slowest = [&] {
    std::uint64_t frames = load.frames;
    for (const auto& reader : progress)
      frames = std::min(frames, reader.frames());
    return frames;
  };
  std::uint64_t refused = 0;
  std::uint64_t arrived = 0;
  const Stopwatch watch{Clock::wall};
  for (std::uint64_t sequence = 0; sequence < load.frames; ++sequence) {
    while (sequence - arrived >= fanout->in_flight_max()) {
      arrived = slowest();
      if (sequence - arrived >= fanout->in_flight_max())
        std::this_thread::yield();
    }
    while (!fanout->submit(load.payloads[sequence])) {
      ++refused;
      std::this_thread::yield();
    }
  }
  while (slowest() < load.frames) {
    require(fanout->lost() == 0, "no copy is lost"); // what is lost would be waited for in vain
    std::this_thread::yield();
  }
  const double cost = watch.elapsed_ns() / static_cast<double>(load.frames);
  fanout->require_ledger(load.frames, refused);
  return cost;
}

inline Side actor_side(std::string name, const ActorLoad& load, MakeActorFanout make,
                       const Tally& expected) {
  ActorLoad sample = load;
  sample.frames = std::min<std::size_t>(load.frames, 20'000);
  std::vector<Progress<FullCheck>> checks;
  for (std::size_t i = 0; i < load.subscribers; ++i)
    checks.emplace_back(FullCheck{load.payloads});
  feed_actors(sample, make, checks);
  return {std::move(name), [load, make, &expected] {
            std::vector<Progress<Tally>> tallies(load.subscribers);
            const double cost = feed_actors(load, make, tallies);
            for (const auto& tally : tallies)
              require(tally.reader() == expected, "every subscriber receives every frame whole");
            return cost;
          }};
}

} // namespace bench
