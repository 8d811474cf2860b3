#include "harness/compare.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace bench {

double quantile(std::vector<double> values, double share) {
  const auto place =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size()));
  std::ranges::nth_element(values, place);
  return *place;
}

Comparison compare_costs(std::string reference, const std::vector<double>& our_costs,
                         const std::vector<double>& reference_costs) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < our_costs.size(); ++round)
    ratios.push_back(reference_costs[round] / our_costs[round]);
  return {std::move(reference), quantile(our_costs, 0.5), quantile(reference_costs, 0.5),
          quantile(std::move(ratios), 0.5)};
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
  for (std::size_t side = 1; side < sides.size(); ++side)
    comparisons.push_back(compare_costs(sides[side]->name, costs[0], costs[side]));
  return comparisons;
}

} // namespace bench
