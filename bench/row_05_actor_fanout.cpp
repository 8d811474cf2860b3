/// Row 5: from an endpoint to subscriber actors of the same system, wall time.

#include "actor_load.hpp"
#include "harness/compare.hpp"
#include "harness/table.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace {

using namespace bench;

void measure(Table& table, std::size_t size, std::size_t subscribers,
             std::optional<double> target) {
  const PayloadSet payloads{size};
  const std::size_t frames = table.frames(1'000'000) / (subscribers + 1);
  const Tally expected = expected_tally(payloads, frames);
  for (const Placement placement : placements()) {
    const ActorLoad load{payloads, frames, subscribers, Where::same_system, placement};
    const std::array references{actor_side("caf", load, caf_actor_fanout, expected)};
    const auto results =
        compare(actor_side("ours", load, our_actor_fanout, expected), references, table.rounds());
    table.line(fmt::format("endpoint to {} subscriber actors, {} B, {}", subscribers, size,
                           to_string(placement)),
               results.front(), target);
  }
}

void actor_fanout(Table& table) {
  measure(table, 120, 1, 3.0);
  measure(table, 120, 4, 7.0);
  measure(table, 120, 16, 18.0);
  if (table.all_sizes())
    for (const std::size_t size : {64, 1024})
      for (const std::size_t subscribers : {1, 4, 16})
        measure(table, size, subscribers, {});
}

const Row row{5, actor_fanout};

} // namespace
