#pragma once

#include <algorithm>
#include <chrono>

namespace datastream {

/// When a wait ends that begins now and may take so long. Longer ones than a year end then, for
/// they would overflow in clocks that count nanoseconds; negative ones end at once.
inline std::chrono::steady_clock::time_point deadline_in(std::chrono::milliseconds wait) {
  constexpr std::chrono::hours longest{24 * 365};
  return std::chrono::steady_clock::now() +
         std::clamp<std::chrono::milliseconds>(wait, std::chrono::milliseconds::zero(), longest);
}

} // namespace datastream
