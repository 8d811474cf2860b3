#include "harness/clock.hpp"

#include <ctime>

namespace bench {
namespace {

std::int64_t now_ns(Clock clock) noexcept {
  timespec now{};
  ::clock_gettime(clock == Clock::thread_cpu ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

} // namespace

Stopwatch::Stopwatch(Clock clock) noexcept : clock_(clock), start_(now_ns(clock)) {}

double Stopwatch::elapsed_ns() const noexcept {
  return static_cast<double>(now_ns(clock_) - start_);
}

} // namespace bench
