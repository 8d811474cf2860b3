#pragma once
/// How far a reader on another thread has come.

#include "harness/payloads.hpp"

#include <atomic>
#include <cstdint>
#include <string_view>

namespace bench {

/// One reader's tally, with a count that other threads may watch. Written by one thread.
class alignas(128) Progress {
public:
  void operator()(std::uint32_t channel, std::uint64_t position,
                  std::string_view payload) noexcept {
    tally_(channel, position, payload);
    frames_.store(tally_.frames, std::memory_order_release);
  }

  std::uint64_t frames() const noexcept { return frames_.load(std::memory_order_acquire); }
  /// Once `frames` says that everything arrived.
  const Tally& tally() const noexcept { return tally_; }

private:
  Tally tally_;
  std::atomic<std::uint64_t> frames_{0};
};

} // namespace bench
