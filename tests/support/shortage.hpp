#pragma once
/// Allocations that fail on demand.

#include <atomic>
#include <cstddef>

namespace datastream::test {

/// Lets the allocation after the next `n` ones fail, or all of them from there on, in this thread,
/// while it lives. The test program's `operator new` sees to it.
class Shortage {
public:
  enum class Of { one, all };
  explicit Shortage(std::size_t n, Of of = Of::one);
  ~Shortage();
  Shortage(const Shortage&) = delete;
  Shortage& operator=(const Shortage&) = delete;

  /// From here on there is enough, in this thread.
  static void end();
  /// Did the last one in this thread make an allocation fail?
  static bool happened();
};

/// Lets every allocation of this thread fail while it lives and `dry` is set, by whichever thread.
class Drought {
public:
  explicit Drought(const std::atomic<bool>& dry);
  ~Drought();
  Drought(const Drought&) = delete;
  Drought& operator=(const Drought&) = delete;
};

} // namespace datastream::test
