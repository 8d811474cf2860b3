#pragma once
/// Several threads that start together.

#include <functional>
#include <vector>

namespace bench {

/// What one thread does.
struct Task {
  std::function<void()> prepare; ///< before the common start: pins the thread
  std::function<void()> work;    ///< from the common start on
};

/// Runs every task on a thread of its own. Returns the nanoseconds from the moment when the first
/// began its work until the last had done it.
double run_together(const std::vector<Task>& tasks);

} // namespace bench
