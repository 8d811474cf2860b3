#pragma once

#include <datastream/envelope/carrier.hpp>
#include <datastream/envelope/sender.hpp>
#include <datastream/model/frame_batch.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <mutex>
#include <string>

namespace datastream {

/// The bounded queue between those who send and the thread of a sender, and the sender's ledger.
///
/// Thread safety: all functions may be called from any thread; `take` by the sender's only.
class SendQueue {
public:
  explicit SendQueue(SendBounds bounds) noexcept : bounds_(bounds) {}

  struct Offered {
    std::size_t frames = 0; ///< that were queued: a prefix
    bool wake = false;      ///< the thread has found the queue empty, and must be told
  };
  /// Queues what fits and counts what does not.
  Offered offer(const FrameBatch& batch) noexcept;
  /// The thread could not be told: whoever comes next must try again.
  void not_woken() noexcept;
  /// Frames wait for a thread that was not told; it must be told now.
  bool wake_due() noexcept;

  /// The next batch, whose memory counts until the next call. Empty: the next offer wakes.
  FrameBatch take() noexcept;

  /// What became of the frames that were taken, in their order.
  void sent(std::size_t frames) noexcept;
  void lost(std::uint64_t SendLosses::* reason, std::size_t frames) noexcept;
  /// Counts something that is not about frames.
  void note(std::uint64_t SenderLedger::* event) noexcept;

  /// Waits until what was queued before is sent or lost.
  bool wait_until_settled(std::chrono::milliseconds deadline);
  SenderLedger ledger() const;

private:
  void settle(std::size_t frames) noexcept;

  const SendBounds bounds_;
  mutable std::mutex mutex_;
  std::condition_variable settled_;
  std::deque<FrameBatch> batches_;
  std::size_t pinned_ = 0;       // by the queue and what was taken last
  std::size_t taken_pinned_ = 0; // by what was taken last
  std::uint64_t accepted_ = 0;   // frames ever queued; ledger_.queued of them are unsettled
  bool asleep_ = true;
  SenderLedger ledger_;
};

/// What every sender needs of its options.
std::expected<void, CarrierError> check_peer(const std::string& host, std::uint16_t port,
                                             const SendBounds& bounds);

/// Says what is lost with a sender that ends.
void log_unsent(const std::string& sender, const SenderLedger& ledger) noexcept;

} // namespace datastream
