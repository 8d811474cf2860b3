/// Subscribers of one fanout that are pulled.

#include "growth/growth.hpp"
#include "harness/clock.hpp"
#include "harness/payloads.hpp"
#include "harness/process.hpp"
#include "harness/require.hpp"
#include "mux_sides.hpp"

#include <datastream/pipe/delivery_fanout.hpp>

#include <vector>

namespace bench {
namespace {

using datastream::DatastreamSubscription;
using datastream::DeliveryFanout;
using datastream::FrameBatch;

std::vector<DatastreamSubscription> subscribe(DeliveryFanout& fanout, std::size_t subscribers) {
  std::vector<DatastreamSubscription> subscriptions;
  subscriptions.reserve(subscribers);
  for (std::size_t i = 0; i < subscribers; ++i)
    subscriptions.push_back(fanout.subscribe("reader"));
  return subscriptions;
}

/// Each of them receives and looks at every frame.
double publishing(std::size_t subscribers) {
  const PayloadSet payloads{120};
  std::vector<datastream::FrameView> frames;
  for (std::uint64_t position = 0; position < frames_a_tick; ++position)
    frames.push_back({{1}, {position}, payloads[position], {}});
  const auto batch = FrameBatch::copy_of(datastream::StreamId{"bench", {1}}, frames);
  DeliveryFanout fanout;
  auto subscriptions = subscribe(fanout, subscribers);
  std::vector<Tally> tallies(subscribers);

  constexpr std::size_t rounds = 4;
  const Stopwatch watch{Clock::thread_cpu};
  for (std::size_t round = 0; round < rounds; ++round) {
    fanout.publish(batch);
    for (std::size_t i = 0; i < subscribers; ++i)
      while (const auto taken = subscriptions[i].try_recv())
        for (const datastream::FrameView& frame : taken->frames)
          tallies[i](frame.channel.value, frame.position.value, frame.payload);
  }
  const double cost =
      watch.elapsed_ns() / static_cast<double>(rounds * frames_a_tick * subscribers);
  const Tally once = expected_tally(payloads, frames_a_tick);
  for (const Tally& tally : tallies)
    require(tally == Tally{rounds * once.frames, rounds * once.positions, rounds * once.bytes,
                           rounds * once.words},
            "every subscriber receives every frame whole");
  for (const auto& subscriber : fanout.ledger().subscribers)
    require(subscriber.counts.balanced() && subscriber.counts.dropped == 0,
            "a subscriber with room loses nothing");
  return cost;
}

double coming_and_leaving(std::size_t subscribers) {
  DeliveryFanout fanout;
  const Stopwatch watch{Clock::thread_cpu};
  auto subscriptions = subscribe(fanout, subscribers);
  require(fanout.subscriber_count() == subscribers, "everybody is subscribed");
  subscriptions.clear();
  const double cost = watch.elapsed_ns() / static_cast<double>(subscribers);
  require(fanout.subscriber_count() == 0, "everybody has left");
  return cost;
}

double memory(std::size_t subscribers) {
  DeliveryFanout fanout;
  const std::size_t before = heap_bytes();
  const auto subscriptions = subscribe(fanout, subscribers);
  return static_cast<double>(heap_bytes() - before) / static_cast<double>(subscribers);
}

} // namespace

std::vector<Growth> subscriber_growth() {
  constexpr std::size_t largest = 1000;
  return {{"subscribers", "publish and receive", "ns a copy", largest, publishing},
          {"subscribers", "come and leave", "ns each", largest, coming_and_leaving},
          {"subscribers", "in a fanout", "bytes each", largest, memory}};
}

} // namespace bench
