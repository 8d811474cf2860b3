#pragma once
/// Waiting for a condition instead of for a time.

#include <chrono>
#include <thread>

namespace datastream::test {

/// How long anything may take before a test fails. Reached by failing tests only.
inline constexpr std::chrono::seconds patience{30};

/// Waits until `condition()` holds; false when it did not in time.
template <class Condition>
bool eventually(Condition condition, std::chrono::milliseconds limit = patience) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

} // namespace datastream::test
