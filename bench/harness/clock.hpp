#pragma once
/// The two clocks that a measure may use.

#include <cstdint>

namespace bench {

enum class Clock {
  thread_cpu, ///< processor time of the calling thread: for work that one thread does alone
  wall,       ///< elapsed time: for work that several threads share
};

/// Counts from its construction. Used by one thread.
class Stopwatch {
public:
  explicit Stopwatch(Clock clock) noexcept;
  /// Nanoseconds since construction.
  double elapsed_ns() const noexcept;

private:
  Clock clock_;
  std::int64_t start_;
};

} // namespace bench
