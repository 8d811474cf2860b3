#pragma once
/// A mux of `moodycamel::ConcurrentQueue`. It keeps the order of each producer, but none between
/// producers, and bounds each producer instead of the whole.

#include "reference/bytes.hpp"

#include <concurrentqueue/concurrentqueue.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace reference::moodycamel {

struct Submission {
  std::uint32_t channel = 0;
  Bytes payload;
};

/// Any thread submits through a `Producer` of its own; one thread drains. `Capacity` in frames of
/// each producer.
template <std::size_t Capacity>
class Mux {
  struct Traits : ::moodycamel::ConcurrentQueueDefaultTraits {
    static const std::size_t MAX_SUBQUEUE_SIZE = Capacity;
  };
  using Queue = ::moodycamel::ConcurrentQueue<Submission, Traits>;

public:
  /// The token that the queue's manual recommends for producers. Used by one thread.
  class Producer {
  public:
    explicit Producer(Mux& mux) : mux_(mux), token_(mux.queue_) {}

    /// False when this producer's part is full: the frame is dropped and counted.
    bool submit(std::uint32_t channel, std::string_view payload) {
      if (mux_.queue_.enqueue(token_, Submission{channel, to_bytes(payload)}))
        return true;
      mux_.dropped_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }

  private:
    Mux& mux_;
    ::moodycamel::ProducerToken token_;
  };

  Mux() : queue_(Capacity), consumer_(queue_) {}

  /// Appends what is there. Positions are the order in which frames come out.
  void drain(std::vector<Submission>& frames) {
    std::size_t size = frames.size();
    for (std::size_t taken = bulk; taken == bulk;) {
      frames.resize(size + bulk);
      taken = queue_.try_dequeue_bulk(consumer_, frames.begin() + static_cast<std::ptrdiff_t>(size),
                                      bulk);
      size += taken;
    }
    frames.resize(size);
  }

  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

private:
  static constexpr std::size_t bulk = 256;

  Queue queue_;
  ::moodycamel::ConsumerToken consumer_;
  std::atomic<std::uint64_t> dropped_{0};
};

} // namespace reference::moodycamel
