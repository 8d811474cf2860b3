#pragma once
/// Fanout as the specification words it: every subscriber has a bounded queue of owned events.

#include "reference/simple/event.hpp"
#include "reference/simple/mux.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace reference::simple {

/// One subscriber's queue. Safe from any thread.
class Subscription {
public:
  explicit Subscription(std::size_t capacity) : capacity_(capacity) {}

  /// False when the queue is full: this copy is dropped.
  bool try_push(Event event) {
    {
      const std::lock_guard lock(mutex_);
      if (queue_.size() >= capacity_)
        return false;
      queue_.push_back(std::move(event));
    }
    arrived_.notify_one();
    return true;
  }

  std::optional<Event> try_recv() {
    const std::lock_guard lock(mutex_);
    return take();
  }

  /// Waits for an event; none once the subscription is closed and empty.
  std::optional<Event> recv() {
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
  std::optional<Event> take() {
    if (queue_.empty())
      return std::nullopt;
    std::optional<Event> event(std::move(queue_.front()));
    queue_.pop_front();
    return event;
  }

  const std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Event> queue_;
  bool closed_ = false;
};

/// What one publication did: `delivered + dropped == drained * subscribers`.
struct Tick {
  std::uint64_t drained = 0;
  std::uint64_t delivered = 0;
  std::uint64_t dropped = 0;
};

/// Drains a mux and publishes to subscribers. Any thread submits, one thread does the rest.
class Endpoint {
public:
  Endpoint(StreamId stream, std::size_t mux_capacity)
      : stream_(std::make_shared<const StreamId>(std::move(stream))), mux_(mux_capacity) {}

  Mux& mux() { return mux_; }

  std::shared_ptr<Subscription> subscribe(std::size_t capacity) {
    return subscribers_.emplace_back(std::make_shared<Subscription>(capacity));
  }

  /// Declares a channel to the subscribers of this moment.
  std::uint32_t register_channel(std::string name) {
    const Event declared = ChannelDescriptor{stream_, ++last_channel_, std::move(name), {}, {}, {}};
    publish({&declared, 1});
    return last_channel_;
  }

  Tick tick() {
    frames_.clear();
    mux_.drain(frames_);
    events_.clear();
    for (Frame& frame : frames_)
      events_.push_back(FrameDelivery{stream_, std::move(frame)});
    return publish(events_);
  }

  /// Publishes what is queued and the end of the stream, and disconnects the subscribers.
  Tick end_stream() {
    const Tick last = tick();
    const Event ended = StreamEnded{stream_};
    publish({&ended, 1});
    for (const auto& subscriber : subscribers_)
      subscriber->close();
    return last;
  }

private:
  /// Every subscriber is offered a copy of every event, whatever becomes of the others.
  Tick publish(std::span<const Event> events) {
    Tick tick{.drained = events.size()};
    for (const auto& subscriber : subscribers_)
      for (const Event& event : events)
        ++(subscriber->try_push(event) ? tick.delivered : tick.dropped);
    return tick;
  }

  SharedStreamId stream_;
  Mux mux_;
  std::uint32_t last_channel_ = 0;
  std::vector<Frame> frames_;
  std::vector<Event> events_;
  std::vector<std::shared_ptr<Subscription>> subscribers_;
};

} // namespace reference::simple
