#pragma once
/// A mux of a mutex and a deque, which the drainer swaps out.

#include "reference/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

namespace reference::mutex {

struct Submission {
  std::uint32_t channel = 0;
  Bytes payload;
};

/// Safe from any thread.
class Mux {
public:
  explicit Mux(std::size_t capacity) : capacity_(capacity) {}

  /// False when the queue is full: the frame is dropped and counted.
  bool submit(std::uint32_t channel, Bytes payload) {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= capacity_) {
      ++dropped_;
      return false;
    }
    queue_.push_back({channel, std::move(payload)});
    return true;
  }

  /// All that was submitted, in order; positions count on from one drain to the next.
  std::deque<Submission> drain() {
    const std::lock_guard lock(mutex_);
    return std::exchange(queue_, {});
  }

  std::uint64_t dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
  }

private:
  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::deque<Submission> queue_;
  std::uint64_t dropped_ = 0;
};

} // namespace reference::mutex
