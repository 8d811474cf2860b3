#pragma once
/// Fanout as the specification words it: every subscriber has a bounded queue of owned copies.

#include "reference/simple/frame.hpp"
#include "reference/simple/mux.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace reference::simple {

/// One subscriber's queue. Safe for one publisher and any number of receivers.
class Subscription {
public:
  explicit Subscription(std::size_t capacity) : capacity_(capacity) {}

  /// False when the queue is full: this copy is dropped.
  bool try_push(Delivery delivery) {
    {
      const std::lock_guard lock(mutex_);
      if (queue_.size() >= capacity_)
        return false;
      queue_.push_back(std::move(delivery));
    }
    arrived_.notify_one();
    return true;
  }

  std::optional<Delivery> try_recv() {
    const std::lock_guard lock(mutex_);
    return take();
  }

  /// Waits for a delivery; none once the subscription is closed and empty.
  std::optional<Delivery> recv() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return !queue_.empty() || closed_; });
    return take();
  }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    arrived_.notify_all();
  }

private:
  std::optional<Delivery> take() {
    if (queue_.empty())
      return std::nullopt;
    std::optional<Delivery> delivery(std::move(queue_.front()));
    queue_.pop_front();
    return delivery;
  }

  const std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Delivery> queue_;
  bool closed_ = false;
};

/// What one tick did: `delivered + dropped == drained * subscribers`.
struct Tick {
  std::uint64_t drained = 0;
  std::uint64_t delivered = 0;
  std::uint64_t dropped = 0;
};

/// Drains a mux and publishes to subscribers. Any thread submits; one thread ticks.
class Endpoint {
public:
  Endpoint(StreamId stream, std::size_t mux_capacity)
      : stream_(std::make_shared<const StreamId>(std::move(stream))), mux_(mux_capacity) {}

  Mux& mux() { return mux_; }

  /// Not while another thread ticks.
  std::shared_ptr<Subscription> subscribe(std::size_t capacity) {
    return subscribers_.emplace_back(std::make_shared<Subscription>(capacity));
  }

  Tick tick() {
    frames_.clear();
    mux_.drain(frames_);
    Tick tick{.drained = frames_.size()};
    for (const auto& subscriber : subscribers_)
      for (const Frame& frame : frames_)
        ++(subscriber->try_push({stream_, frame}) ? tick.delivered : tick.dropped);
    return tick;
  }

private:
  std::shared_ptr<const StreamId> stream_;
  Mux mux_;
  std::vector<Frame> frames_;
  std::vector<std::shared_ptr<Subscription>> subscribers_;
};

} // namespace reference::simple
