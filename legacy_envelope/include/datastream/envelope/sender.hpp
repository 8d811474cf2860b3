#pragma once
/// Sends frames to one peer, whatever carries them.

#include <datastream/defaults.hpp>
#include <datastream/envelope/carrier.hpp>
#include <datastream/model/frame_batch.hpp>

#include <chrono>
#include <cstddef>

namespace datastream {

/// How much a sender queues. Both at least one.
struct SendBounds {
  std::size_t frames = defaults::sender_frames;
  std::size_t bytes = defaults::sender_bytes; ///< memory that queued batches pin for payloads
};

/// A peer to which frames go as envelopes. Every sender has one thread of its own, which takes
/// frames from a bounded queue in the order of `send`.
///
/// Thread safety: all functions may be called from any thread.
class EnvelopeSender {
public:
  virtual ~EnvelopeSender() = default;
  EnvelopeSender(const EnvelopeSender&) = delete;
  EnvelopeSender& operator=(const EnvelopeSender&) = delete;

  /// Queues the longest prefix that fits the queue's bounds, and returns its length; the rest is
  /// dropped and counted. Never blocks and never throws. The queue shares the batch's memory.
  virtual std::size_t send(const FrameBatch& batch) noexcept = 0;

  /// Waits until everything that was queued before has been handed to the kernel or counted as
  /// lost; false when it has not by the deadline.
  virtual bool flush(std::chrono::milliseconds deadline) = 0;

  virtual SenderLedger ledger() const = 0;

protected:
  EnvelopeSender() = default;
};

} // namespace datastream
