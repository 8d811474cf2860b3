#pragma once
/// Paired comparison. Machines are shared and noisy: only the ratio of two runs that were made
/// right after each other counts, and of many such pairs the median.

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// One contestant of a measure.
struct Side {
  std::string name;
  /// Does the whole work once and returns its cost, in nanoseconds a frame unless the measure says
  /// otherwise. Aborts the process if a frame was lost or damaged.
  std::function<double()> run;
};

/// Ours against one reference.
struct Comparison {
  std::string reference;
  double our_cost = 0;       ///< median
  double reference_cost = 0; ///< median
  double ratio = 0;          ///< median of reference cost / our cost, paired within a round
};

/// Runs all sides once untimed, then `rounds` times in turn; every second round backwards, so that
/// nobody always runs first. One comparison a reference, in their order.
std::vector<Comparison> compare(const Side& ours, std::span<const Side> references, int rounds);

/// The same for costs that were measured in pairs already, one of each a round.
Comparison compare_costs(std::string reference, const std::vector<double>& our_costs,
                         const std::vector<double>& reference_costs);

/// The value below which `share` of the values lie, `share` in [0, 1).
double quantile(std::vector<double> values, double share);

} // namespace bench
