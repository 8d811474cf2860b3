#pragma once
/// Between the threads of receivers and the actor of a bridge.

#include <datastream/envelope/admission.hpp>
#include <datastream/model/frame_batch.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace datastream {

/// What came from a peer: frames, or nothing more for ever.
struct Arrival {
  PeerName peer;
  FrameBatch frames{}; ///< empty: the peer has left
};

/// Holds what arrived until the actor takes it, in a bounded amount of memory: a receiver that
/// brings more waits.
///
/// Thread safety: all functions may be called from any thread.
class ArrivalQueue {
public:
  /// Room for so many bytes that batches pin, or for one batch that is larger.
  explicit ArrivalQueue(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  /// Waits for room. False: it was closed, and the arrival is not taken. Calls `wake` when somebody
  /// has to come and take.
  bool push(Arrival arrival, const std::function<void()>& wake);
  /// All that there is; never waits.
  std::vector<Arrival> take();
  /// Refuses what comes, discards what is there, and lets go of those who wait. Idempotent.
  void close();

  struct Counts {
    std::uint64_t waiting = 0;   ///< frames that are there
    std::uint64_t discarded = 0; ///< frames that were there when it was closed
  };
  Counts counts() const;

private:
  std::uint64_t frames() const;

  const std::size_t bytes_max_;
  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::vector<Arrival> arrivals_;
  std::size_t bytes_ = 0;
  std::uint64_t discarded_ = 0;
  bool closed_ = false;
};

} // namespace datastream
