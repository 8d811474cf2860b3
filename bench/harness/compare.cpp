#include "harness/compare.hpp"

#include <algorithm>
#include <cstddef>

namespace bench {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::vector<Comparison> compare(const Side& ours, std::span<const Side> references, int rounds) {
  std::vector<const Side*> sides{&ours};
  for (const Side& reference : references)
    sides.push_back(&reference);
  for (const Side* side : sides)
    side->run();

  std::vector<std::vector<double>> costs(sides.size());
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const std::size_t turn = round % 2 ? sides.size() - 1 - i : i;
      costs[turn].push_back(sides[turn]->run());
    }

  std::vector<Comparison> comparisons;
  for (std::size_t side = 1; side < sides.size(); ++side) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < costs[side].size(); ++round)
      ratios.push_back(costs[side][round] / costs[0][round]);
    comparisons.push_back(
        {sides[side]->name, median(costs[0]), median(costs[side]), median(std::move(ratios))});
  }
  return comparisons;
}

} // namespace bench
