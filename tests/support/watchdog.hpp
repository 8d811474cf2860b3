#pragma once
/// Turns a hang into a failure that says who waits.

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

namespace datastream::test {

/// Ends the process with a message when it is not fed in time.
class Watchdog {
public:
  explicit Watchdog(std::chrono::seconds limit)
      : limit_(limit), thread_([this](std::stop_token stop) { watch(stop); }) {}

  /// Says what is waited for from now on.
  void feed(std::string step) {
    const std::lock_guard lock(mutex_);
    step_ = std::move(step);
    ++fed_;
    changed_.notify_all();
  }

private:
  void watch(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      const auto seen = fed_;
      if (changed_.wait_for(lock, stop, limit_, [&] { return fed_ != seen; }) ||
          stop.stop_requested())
        continue;
      std::cerr << "watchdog: hangs in: " << step_ << std::endl;
      std::abort();
    }
  }

  const std::chrono::seconds limit_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string step_ = "start";
  std::uint64_t fed_ = 0;
  std::jthread thread_; // last: it uses all the others
};

} // namespace datastream::test
