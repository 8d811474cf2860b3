#pragma once
/// Between two attempts to end a stream.

#include <datastream/defaults.hpp>

#include <thread>

namespace datastream::detail {

/// Waits before another attempt, when `attempt` attempts have failed besides the first. Two things
/// keep frames back: a submission that still copies, for a moment, and a lack of memory, perhaps
/// for long.
inline void end_pause(int attempt) {
  if (attempt < defaults::quick_end_attempts)
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(defaults::end_retry);
}

} // namespace datastream::detail
