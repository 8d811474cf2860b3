/// Row 20: 100,000 channels, nearly all idle, 10,000 streams, 1,000 subscribers, 3,000,000 frames.
/// What is compared is the cost of one of so many with that of one of a tenth of them. A linear
/// step costs the same for both, but for caches; a quadratic one costs ten times as much.

#include "growth/growth.hpp"
#include "harness/compare.hpp"
#include "harness/table.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace {

using namespace bench;

/// What no longer fits the caches costs up to three times as much; ten times is quadratic. The
/// limit lies midway: the square root of ten.
constexpr double least_ratio = 0.316;

void growing(Table& table) {
  for (const Growth& growth : all_growth()) {
    const std::size_t size = table.frames(growth.largest);
    const std::array references{Side{"a tenth", [&] { return growth.cost(size / 10, size); }}};
    const auto result =
        compare({"ours", [&] { return growth.cost(size, size); }}, references, table.rounds())
            .front();
    table.line(fmt::format("linear: {} {}, {}, {}", size, growth.things, growth.part, growth.unit),
               result, least_ratio);
  }
}

const Row row{20, growing};

} // namespace
