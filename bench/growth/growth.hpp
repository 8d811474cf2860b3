#pragma once
/// Costs against the number of channels, streams, subscribers or frames that there are. Where a
/// cost is linear, one of many costs what one of few does.

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

namespace bench {

/// One such cost.
struct Growth {
  std::string_view things; ///< that there are so many of
  std::string_view part;   ///< what costs
  std::string_view unit;   ///< of the cost, and of what: "ns a frame"
  std::size_t largest = 0; ///< number of things that the cost is stated for
  /// Does the work once with so many things and returns what it costs. Aborts the process if
  /// anything was lost or damaged.
  std::function<double(std::size_t)> once;

  /// The cost with `size` things: the mean of as many runs as make `together` things, so that few
  /// are measured as long as many.
  double cost(std::size_t size, std::size_t together) const;
};

/// Numbers of things over two powers of ten up to `largest`, ascending.
std::vector<std::size_t> sizes_up_to(std::size_t largest);

std::vector<Growth> channel_growth();
std::vector<Growth> stream_growth();
std::vector<Growth> subscriber_growth();
std::vector<Growth> frame_growth();
/// All of these.
std::vector<Growth> all_growth();

} // namespace bench
