#pragma once
/// The mux as the specification words it: a bounded queue of owned payloads, positions assigned
/// while draining.

#include "reference/simple/frame.hpp"

#include <boost/lockfree/queue.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace reference::simple {

/// Any thread submits; one thread drains.
class Mux {
public:
  explicit Mux(std::size_t capacity) : queue_(capacity) {}
  Mux(const Mux&) = delete;
  Mux& operator=(const Mux&) = delete;
  ~Mux() {
    queue_.consume_all([](Submission* submission) { delete submission; });
  }

  /// False when the queue is full: the frame is dropped and counted.
  bool submit(std::uint32_t channel, Bytes payload) {
    auto submission = std::make_unique<Submission>(channel, std::move(payload));
    // The queue was built with nodes for `capacity` submissions and takes no more than those.
    if (!queue_.bounded_push(submission.get())) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    submission.release();
    return true;
  }

  /// Appends what was submitted, until the queue is empty.
  void drain(std::vector<Frame>& frames) {
    queue_.consume_all([&](Submission* taken) {
      const std::unique_ptr<Submission> submission(taken);
      frames.push_back({submission->channel, position_++, std::move(submission->payload)});
    });
  }

  std::uint64_t assigned() const { return position_; }
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

private:
  struct Submission {
    Submission(std::uint32_t to, Bytes bytes) : channel(to), payload(std::move(bytes)) {}
    std::uint32_t channel;
    Bytes payload;
  };

  boost::lockfree::queue<Submission*> queue_;
  std::uint64_t position_ = 0;
  std::atomic<std::uint64_t> dropped_{0};
};

} // namespace reference::simple
