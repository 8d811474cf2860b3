/// Row 17: from before a submission until a subscriber actor's handler has the frame, in an idle
/// system, nanoseconds. Both systems live at once and are asked in turn.

#include "actor_sides.hpp"
#include "harness/compare.hpp"
#include "harness/payloads.hpp"
#include "harness/require.hpp"
#include "harness/table.hpp"

#include <datastream/defaults.hpp>

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace {

using namespace bench;
using Time = std::chrono::steady_clock;

/// Silence before a submission: half as long again as what makes an endpoint idle.
constexpr auto silence = datastream::defaults::idle_after * 3 / 2;

/// Notes when a frame came.
struct Arrival {
  const PayloadSet& payloads;
  Time::time_point time{};
  std::atomic<std::uint64_t> frames{0};

  void operator()(std::uint32_t, std::uint64_t position, std::string_view payload) {
    time = Time::now();
    require(payload == payloads[position], "a frame arrives whole");
    frames.store(position + 1, std::memory_order_release);
    frames.notify_one();
  }
};

class Line {
public:
  Line(const PayloadSet& payloads, Placement placement,
       std::unique_ptr<ActorFanout> (*make)(Where, Placement, const std::vector<FrameReader>&))
      : arrival_{payloads}, fanout_(make(Where::same_system, placement, {std::ref(arrival_)})) {}

  double one_latency() {
    std::this_thread::sleep_for(silence);
    const auto begin = Time::now();
    require(fanout_->submit(arrival_.payloads[sent_]), "an idle system accepts");
    arrival_.frames.wait(sent_++, std::memory_order_acquire);
    return std::chrono::duration<double, std::nano>(arrival_.time - begin).count();
  }

private:
  Arrival arrival_;
  std::uint64_t sent_ = 0;
  std::unique_ptr<ActorFanout> fanout_;
};

void measure(Table& table, Placement placement) {
  const Confined confined{placement};
  const PayloadSet payloads{120};
  Line ours{payloads, placement, our_actor_fanout};
  Line caf{payloads, placement, caf_actor_fanout};

  struct Costs {
    std::vector<double> ours;
    std::vector<double> caf;
  };
  Costs medians;
  Costs tails;
  for (int round = 0; round < table.rounds(); ++round) {
    Costs samples;
    for (std::size_t i = 0; i < table.frames(100); ++i) {
      samples.ours.push_back(ours.one_latency());
      samples.caf.push_back(caf.one_latency());
    }
    medians.ours.push_back(quantile(samples.ours, 0.5));
    medians.caf.push_back(quantile(samples.caf, 0.5));
    tails.ours.push_back(quantile(samples.ours, 0.99));
    tails.caf.push_back(quantile(samples.caf, 0.99));
  }
  table.line(fmt::format("latency to an idle actor, median, 120 B, {}", to_string(placement)),
             compare_costs("caf", medians.ours, medians.caf), 1 / 1.5);
  table.line(fmt::format("latency to an idle actor, 99 %, 120 B, {}", to_string(placement)),
             compare_costs("caf", tails.ours, tails.caf), 1 / 2.0);
}

void latency(Table& table) {
  for (const Placement placement : placements())
    measure(table, placement);
}

const Row row{17, latency};

} // namespace
