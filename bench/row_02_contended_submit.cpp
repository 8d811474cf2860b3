/// Row 2: producers against the drainer of the tick, wall time from the first submission until
/// the last frame is drained. A refused producer yields and submits the frame again, so that all
/// sides carry every frame; only the log overwrites instead.

#include "harness/compare.hpp"
#include "harness/payloads.hpp"
#include "harness/placement.hpp"
#include "harness/table.hpp"
#include "harness/threads.hpp"
#include "mux_sides.hpp"
#include "reference/log/async_log.hpp"

#include <fmt/format.h>

#include <sys/prctl.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

namespace {

using namespace bench;

constexpr std::chrono::microseconds back_off{20};
/// A drain of fewer frames is small.
constexpr std::size_t small_drain = 256;

struct Load {
  const PayloadSet& payloads;
  std::size_t producers;
  std::size_t frames; ///< of each producer
  Placement placement;

  std::size_t total() const { return producers * frames; }
};

/// Nanoseconds until `produce(number)`, on a thread for each producer, and `consume()`, on one
/// more, are done.
double time_threads(const Load& load, const std::function<void(std::size_t)>& produce,
                    const std::function<void()>& consume) {
  std::vector<Task> tasks{{[&] {
                             pin_consumer(load.placement);
                             ::prctl(PR_SET_TIMERSLACK,
                                     1); // a sleep of 20 us is to last 20, not 70
                           },
                           consume}};
  for (std::size_t number = 0; number < load.producers; ++number)
    tasks.push_back({[&load, number] { pin_producer(load.placement, number); },
                     [&produce, number] { produce(number); }});
  return run_together(tasks);
}

template <class Mux, class Reader>
double through_mux(const Load& load, Reader& reader) {
  Mux mux;
  std::vector<std::uint64_t> refused(load.producers);
  const double elapsed = time_threads(
      load,
      [&](std::size_t number) {
        auto producer = mux.producer();
        const auto channel = static_cast<std::uint32_t>(number + 1);
        std::uint64_t refusals = 0;
        for (std::size_t sequence = 0; sequence < load.frames; ++sequence)
          while (!producer.submit(channel, load.payloads[sequence])) {
            ++refusals;
            std::this_thread::yield();
          }
        refused[number] = refusals;
      },
      [&] {
        for (std::size_t drained = 0; drained < load.total();) {
          const std::size_t frames = mux.drain(reader);
          drained += frames;
          if (frames < small_drain)
            std::this_thread::sleep_for(back_off);
        }
      });
  mux.require_ledger(load.total(), std::accumulate(refused.begin(), refused.end(), 0ULL));
  return elapsed / static_cast<double>(load.total());
}

template <class Mux>
Side mux_side(std::string name, const Load& load, const Tally& expected) {
  Load sample = load;
  sample.frames = std::min<std::size_t>(load.frames, 20'000);
  FullCheck check{load.payloads, load.producers};
  through_mux<Mux>(sample, check);
  require(check.frames() == sample.total(), "every frame is drained");
  return {std::move(name), [load, &expected] {
            Tally tally;
            const double cost = through_mux<Mux>(load, tally);
            require(tally == expected, "every frame is drained whole");
            return cost;
          }};
}

double through_log(const Load& load) {
  reference::log::AsyncLog log{mux_frames, [&] { pin_consumer(load.placement); }};
  std::atomic<std::size_t> producing{load.producers};
  const double elapsed = time_threads(
      load,
      [&](std::size_t) {
        for (std::size_t sequence = 0; sequence < load.frames; ++sequence)
          log.submit(load.payloads[sequence]);
        if (producing.fetch_sub(1) == 1)
          producing.notify_one();
      },
      [&] { // the logger consumes on a thread of its own
        while (const std::size_t left = producing.load())
          producing.wait(left);
        log.finish();
      });
  require(log.written() + log.overrun() == load.total(), "the log counts what it overwrites");
  return elapsed / static_cast<double>(load.total());
}

struct Targets {
  std::optional<double> simple;
  std::optional<double> moodycamel;
  std::optional<double> log;
};

void measure(Table& table, std::size_t size, std::size_t producers, const Targets& targets) {
  const PayloadSet payloads{size};
  const std::size_t frames = table.frames(400'000) / producers;
  const Tally expected = expected_tally(payloads, frames, producers);
  for (const Placement placement : placements()) {
    const Load load{payloads, producers, frames, placement};
    const std::array references{mux_side<SimpleMux>("simple", load, expected),
                                mux_side<MoodycamelMux>("moodycamel", load, expected),
                                Side{"log", [load] { return through_log(load); }}};
    const auto results =
        compare(mux_side<OurMux>("ours", load, expected), references, table.rounds(9));
    const auto label = fmt::format("submit with {} producers against the drainer, {} B, {}",
                                   producers, size, to_string(placement));
    table.line(label, results[0], targets.simple);
    table.line(label, results[1], targets.moodycamel);
    table.line(label, results[2], targets.log);
  }
}

void contended_submit(Table& table) {
  measure(table, 120, 1, {4.0, 2.0, 8.0});
  measure(table, 120, 2, {3.5, 2.0, 8.0});
  measure(table, 120, 4, {4.0, 2.0, 8.0});
  if (table.all_sizes())
    for (const std::size_t size : {64, 1024})
      for (const std::size_t producers : {1, 2, 4})
        measure(table, size, producers, {});
}

const Row row{2, contended_submit};

} // namespace
