/// Row 6: from an endpoint to a subscriber actor of another node over CAF's middleman, wall time.

#include "actor_load.hpp"
#include "harness/compare.hpp"
#include "harness/table.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace {

using namespace bench;

void measure(Table& table, std::size_t size, std::optional<double> target) {
  const PayloadSet payloads{size};
  const std::size_t frames = table.frames(100'000);
  const Tally expected = expected_tally(payloads, frames);
  for (const Placement placement : placements()) {
    const ActorLoad load{payloads, frames, 1, Where::other_node, placement};
    const std::array references{actor_side("caf", load, caf_actor_fanout, expected)};
    const auto results =
        compare(actor_side("ours", load, our_actor_fanout, expected), references, table.rounds());
    table.line(fmt::format("node to node, {} B, {}", size, to_string(placement)), results.front(),
               target);
  }
}

void node_to_node(Table& table) {
  measure(table, 64, 10.0);
  if (table.all_sizes()) {
    measure(table, 120, {});
    measure(table, 1024, {});
  }
}

const Row row{6, node_to_node};

} // namespace
