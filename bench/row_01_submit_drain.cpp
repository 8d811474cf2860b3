/// Row 1: submit and drain, one thread, processor time.

#include "harness/clock.hpp"
#include "harness/compare.hpp"
#include "harness/payloads.hpp"
#include "harness/table.hpp"
#include "mux_sides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace {

using namespace bench;

template <class Mux, class Reader>
double submit_and_drain(const PayloadSet& payloads, std::size_t frames, Reader& reader) {
  Mux mux;
  auto producer = mux.producer();
  const Stopwatch watch{Clock::thread_cpu};
  for (std::size_t done = 0; done < frames;) {
    for (const std::size_t end = std::min(frames, done + frames_a_tick); done < end; ++done)
      require(producer.submit(1, payloads[done]), "a mux with room accepts");
    mux.drain(reader);
  }
  const double cost = watch.elapsed_ns() / static_cast<double>(frames);
  mux.require_ledger(frames, 0);
  return cost;
}

template <class Mux>
Side side(std::string name, const PayloadSet& payloads, std::size_t frames, const Tally& expected) {
  FullCheck check{payloads};
  submit_and_drain<Mux>(payloads, 10 * frames_a_tick, check);
  require(check.frames() == 10 * frames_a_tick, "every frame is drained");
  return {std::move(name), [&payloads, frames, &expected] {
            Tally tally;
            const double cost = submit_and_drain<Mux>(payloads, frames, tally);
            require(tally == expected, "every frame is drained whole");
            return cost;
          }};
}

void measure(Table& table, std::size_t size, std::optional<double> simple,
             std::optional<double> moodycamel) {
  const PayloadSet payloads{size};
  const std::size_t frames = table.frames(1'000'000);
  const Tally expected = expected_tally(payloads, frames);
  const std::array references{side<SimpleMux>("simple", payloads, frames, expected),
                              side<MoodycamelMux>("moodycamel", payloads, frames, expected)};
  const auto results =
      compare(side<OurMux>("ours", payloads, frames, expected), references, table.rounds());
  const auto label = fmt::format("submit + drain, one thread, {} B", size);
  table.line(label, results[0], simple);
  table.line(label, results[1], moodycamel);
}

void submit_drain(Table& table) {
  measure(table, 120, 2.5, 1.1);
  measure(table, 1024, 1.4, 1.0);
  if (table.all_sizes())
    measure(table, 64, {}, {});
}

const Row row{1, submit_drain};

} // namespace
