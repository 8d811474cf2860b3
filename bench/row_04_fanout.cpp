/// Row 4: submit, tick and receive by several subscribers, one thread, processor time.

#include "harness/clock.hpp"
#include "harness/compare.hpp"
#include "harness/payloads.hpp"
#include "harness/table.hpp"
#include "pipe_sides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace bench;

/// `readers`: one a subscriber.
template <class Pipe, class Reader>
double fan_out(const PayloadSet& payloads, std::size_t frames, std::vector<Reader>& readers) {
  Pipe pipe{readers.size()};
  const Stopwatch watch{Clock::thread_cpu};
  for (std::size_t done = 0; done < frames;) {
    for (const std::size_t end = std::min(frames, done + frames_a_tick); done < end; ++done)
      require(pipe.submit(payloads[done]), "a mux with room accepts");
    pipe.tick();
    for (std::size_t i = 0; i < readers.size(); ++i)
      pipe.try_recv_all(i, readers[i]);
  }
  const double cost = watch.elapsed_ns() / static_cast<double>(frames);
  pipe.end();
  require(pipe.require_ledger(frames, 0) == 0, "a subscriber with room loses nothing");
  return cost;
}

template <class Pipe>
Side side(std::string name, const PayloadSet& payloads, std::size_t frames, std::size_t subscribers,
          const Tally& expected) {
  std::vector checks(subscribers, FullCheck{payloads});
  fan_out<Pipe>(payloads, 10 * frames_a_tick, checks);
  for (const FullCheck& check : checks)
    require(check.frames() == 10 * frames_a_tick, "every subscriber receives every frame");
  return {std::move(name), [&payloads, frames, subscribers, &expected] {
            std::vector<Tally> tallies(subscribers);
            const double cost = fan_out<Pipe>(payloads, frames, tallies);
            for (const Tally& tally : tallies)
              require(tally == expected, "every subscriber receives every frame whole");
            return cost;
          }};
}

/// Returns our cost of a frame.
double measure(Table& table, std::size_t size, std::size_t subscribers,
               std::optional<double> target) {
  const PayloadSet payloads{size};
  const std::size_t frames = table.frames(800'000) / subscribers;
  const Tally expected = expected_tally(payloads, frames);
  const std::array references{side<SimplePipe>("simple", payloads, frames, subscribers, expected)};
  const auto result = compare(side<OurPipe>("ours", payloads, frames, subscribers, expected),
                              references, table.rounds())
                          .front();
  table.line(fmt::format("submit, tick, receive by {}, one thread, {} B", subscribers, size),
             result, target);
  return result.our_cost;
}

void measure_size(Table& table, std::size_t size,
                  const std::array<std::optional<double>, 3>& targets) {
  const double one = measure(table, size, 1, targets[0]);
  measure(table, size, 4, targets[1]);
  const double sixteen = measure(table, size, 16, targets[2]);
  table.line_at_most(fmt::format("an extra subscriber, {} B", size), (sixteen - one) / 15, 3.0);
}

void fanout(Table& table) {
  measure_size(table, 120, {5.0, 12.0, 28.0});
  measure_size(table, 1024, {});
  if (table.all_sizes())
    measure_size(table, 64, {});
}

const Row row{4, fanout};

} // namespace
