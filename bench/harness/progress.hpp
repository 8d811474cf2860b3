#pragma once
/// How far a reader on another thread has come.

#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>

namespace bench {

/// A check of `payloads.hpp`, with a count that other threads may watch. One thread reads frames.
template <class Reader>
class alignas(128) Progress {
public:
  Progress() = default;
  explicit Progress(Reader reader) : reader_(std::move(reader)) {}
  /// While nobody reads or watches.
  Progress(Progress&& other) noexcept
      : reader_(std::move(other.reader_)), frames_(other.frames_.load()) {}

  void operator()(std::uint32_t channel, std::uint64_t position, std::string_view payload) {
    reader_(channel, position, payload);
    frames_.store(frames_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  std::uint64_t frames() const noexcept { return frames_.load(std::memory_order_acquire); }
  /// What it saw, once `frames` says that everything arrived.
  const Reader& reader() const noexcept { return reader_; }

private:
  Reader reader_;
  std::atomic<std::uint64_t> frames_{0};
};

} // namespace bench
