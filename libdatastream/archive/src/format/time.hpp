#pragma once
/// Times, as the archive's files have them: microseconds since 1970.

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace datastream::format {

inline std::int64_t microseconds_of(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
}

/// That time, or the nearest that there is.
inline std::chrono::system_clock::time_point time_of(std::int64_t microseconds) {
  using std::chrono::duration_cast;
  using Clock = std::chrono::system_clock;
  using Micros = std::chrono::microseconds;
  const auto lowest = duration_cast<Micros>(Clock::duration::min()).count();
  const auto highest = duration_cast<Micros>(Clock::duration::max()).count();
  return Clock::time_point(duration_cast<Clock::duration>(
      Micros(std::clamp<std::int64_t>(microseconds, lowest, highest))));
}

} // namespace datastream::format
