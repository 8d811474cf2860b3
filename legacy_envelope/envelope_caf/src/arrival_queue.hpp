#pragma once
/// Between the threads of receivers and the actor of a bridge.

#include <datastream/envelope/admission.hpp>
#include <datastream/model/frame_batch.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace datastream {

/// What came from a peer: frames, or nothing more for ever.
struct Arrival {
  PeerName peer;
  FrameBatch frames{}; ///< empty: the peer has left

  /// What each takes besides names, headers and payloads: its place in the queue, the objects of a
  /// batch, and a message and an answer on the way to the consumer or fanout.
  static constexpr std::size_t overhead = 1024;
  /// Bytes of memory that it keeps alive, at most.
  std::size_t memory() const noexcept;
};

/// Holds what arrived until the actor has passed it on, in a bounded amount of memory: a receiver
/// that brings more waits.
///
/// Thread safety: all functions may be called from any thread; `take` by the actor only.
class ArrivalQueue {
public:
  /// Room for so many bytes of memory, or for one arrival that is larger.
  explicit ArrivalQueue(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  /// Waits for room. False: it was closed, and the arrival is not taken. Calls `wake`, without a
  /// lock, when the actor has to come and take. When that throws, for want of memory,
  /// whoever comes next or waits tries again. Throws `std::bad_alloc`, and then has not taken the
  /// arrival.
  bool push(Arrival arrival, const std::function<void()>& wake);
  /// All that there is; never waits. It counts until the next call, so pass it on before. Empty:
  /// the next arrival wakes.
  std::vector<Arrival> take();
  /// Refuses what comes, discards what is there, and lets go of those who wait. Idempotent.
  void close();

  struct Counts {
    std::uint64_t waiting = 0;   ///< frames that are there
    std::uint64_t discarded = 0; ///< frames that were there when it was closed
  };
  Counts counts() const;

private:
  bool has_room(std::size_t bytes) const noexcept;
  void wait_for_room(std::unique_lock<std::mutex>& lock, std::size_t bytes,
                     const std::function<void()>& wake);
  void wake_taker(std::unique_lock<std::mutex>& lock, const std::function<void()>& wake);
  std::uint64_t frames() const;

  const std::size_t bytes_max_;
  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::vector<Arrival> arrivals_;
  std::size_t bytes_ = 0;       // of what is there
  std::size_t taken_bytes_ = 0; // of what was taken last
  std::uint64_t discarded_ = 0;
  bool asleep_ = true; // the actor has found nothing, and was not told of anything since
  bool closed_ = false;
};

} // namespace datastream
