#pragma once

#include "send_queue.hpp"

#include <datastream/envelope/codec.hpp>
#include <datastream/model/frame_batch.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace datastream {

/// What a sender hands to the kernel next: frames of its queue, encoded into one buffer, each
/// envelope after its length.
///
/// Thread safety: the sender's thread only.
class OutgoingEnvelopes {
public:
  struct Bounds {
    std::size_t envelope_bytes; ///< larger envelopes are lost
    std::size_t frames;         ///< at a time
    std::size_t bytes;          ///< at a time; the last envelope may reach beyond
  };
  OutgoingEnvelopes(SendQueue& queue, Bounds bounds) noexcept : queue_(queue), bounds_(bounds) {}

  /// Takes the next frames in place of those before. False: there are none, and the next offer
  /// wakes. What cannot be sent is counted as lost.
  bool refill() noexcept;

  std::string_view bytes() const noexcept { return buffer_; }
  std::size_t frames() const noexcept { return frames_; }
  /// How many whole envelopes the first `bytes` are.
  std::size_t frames_within(std::size_t bytes) const noexcept;

  /// Calls `each` with every envelope, without its length.
  template <class Each>
  void for_each(Each each) const {
    for (std::size_t at = 0; at < buffer_.size();) {
      const std::size_t length = length_at(at);
      each(std::string_view(buffer_).substr(at + envelope_prefix, length));
      at += envelope_prefix + length;
    }
  }

private:
  std::size_t length_at(std::size_t at) const noexcept;
  std::size_t fitting() const noexcept;
  std::uint64_t SendLosses::* encode(std::size_t count) noexcept;

  SendQueue& queue_;
  const Bounds bounds_;
  FrameBatch batch_; // of which the frames from `next_` on are still to be encoded
  std::size_t next_ = 0;
  std::string buffer_;
  std::size_t frames_ = 0; // in the buffer
};

} // namespace datastream
