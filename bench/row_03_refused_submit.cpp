/// Row 3: submitting into a full mux, wall time until all producers are done.

#include "harness/compare.hpp"
#include "harness/payloads.hpp"
#include "harness/placement.hpp"
#include "harness/table.hpp"
#include "harness/threads.hpp"
#include "mux_sides.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace {

using namespace bench;

template <class Mux>
double refused(const PayloadSet& payloads, std::size_t producers, std::size_t frames,
               Placement placement, const Tally& expected) {
  Mux mux;
  {
    auto filler = mux.producer();
    for (std::size_t sequence = 0; sequence < mux_frames; ++sequence)
      require(filler.submit(1, payloads[sequence]), "a mux with room accepts");
  }
  std::vector<Task> tasks;
  for (std::size_t number = 0; number < producers; ++number)
    tasks.push_back({[placement, number] { pin_producer(placement, number); },
                     [&] {
                       auto producer = mux.producer();
                       std::size_t accepted = 0;
                       for (std::size_t sequence = 0; sequence < frames; ++sequence)
                         accepted += producer.submit(1, payloads[sequence]);
                       require(accepted == 0, "a full mux accepts nothing");
                     }});
  const double cost = run_together(tasks) / static_cast<double>(producers * frames);

  Tally tally;
  mux.drain(tally);
  require(tally == expected, "what was accepted before is drained whole");
  mux.require_ledger(mux_frames, producers * frames);
  return cost;
}

void measure(Table& table, std::size_t size, std::size_t producers, std::optional<double> target) {
  const PayloadSet payloads{size};
  const Tally expected = expected_tally(payloads, mux_frames);
  const std::size_t frames = table.frames(1'000'000) / producers;
  for (const Placement placement : placements()) {
    const std::array references{
        Side{"mutex",
             [&] { return refused<MutexMux>(payloads, producers, frames, placement, expected); }}};
    const auto results = compare(
        {"ours", [&] { return refused<OurMux>(payloads, producers, frames, placement, expected); }},
        references, table.rounds());
    table.line(fmt::format("submit into a full mux, {} producers, {} B, {}", producers, size,
                           to_string(placement)),
               results[0], target);
  }
}

void refused_submit(Table& table) {
  for (const std::size_t producers : {1, 2, 4})
    measure(table, 120, producers, 5.0);
  if (table.all_sizes())
    for (const std::size_t size : {64, 1024})
      for (const std::size_t producers : {1, 2, 4})
        measure(table, size, producers, {});
}

const Row row{3, refused_submit};

} // namespace
