/// Row 20: 100,000 channels, 10,000 streams, 1,000 subscribers, 3,000,000 frames. What is compared
/// is the cost of one of so many with that of one of a tenth of them. Where a step is linear both
/// are the same but for caches and logarithms; a quadratic one would cost ten times as much.

#include "growth/growth.hpp"
#include "harness/compare.hpp"
#include "harness/table.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

namespace {

using namespace bench;

/// One of so many may cost half as much again as one of a tenth of them.
constexpr double least_ratio = 1 / 1.5;

void growing(Table& table) {
  for (const Growth& growth : all_growth()) {
    const std::size_t size = table.frames(growth.largest);
    const std::array references{Side{"a tenth", [&] { return growth.cost(size / 10); }}};
    const auto result =
        compare({"ours", [&] { return growth.cost(size); }}, references, table.rounds()).front();
    table.line(fmt::format("{} {}, linear: {}, {}", size, growth.things, growth.part, growth.unit),
               result, least_ratio);
  }
}

const Row row{20, growing};

} // namespace
