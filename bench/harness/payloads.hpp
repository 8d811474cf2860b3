#pragma once
/// What is submitted, and how a reader shows that it arrived whole.

#include "harness/require.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// The payloads of one measure: 64 different ones of equal size, taken in turn, so that a frame's
/// place in its channel says which bytes it must have. Read-only after construction.
class PayloadSet {
public:
  /// `size` in bytes, at least 8.
  explicit PayloadSet(std::size_t size);

  std::size_t size() const noexcept { return payloads_.front().size(); }
  /// The payload of a channel's frame number `sequence`, from 0.
  std::string_view operator[](std::uint64_t sequence) const noexcept {
    return payloads_[sequence % payloads_.size()];
  }

private:
  std::array<std::string, 64> payloads_;
};

/// The light check that timed runs make, on all sides alike: every frame's position, length and
/// first eight bytes, summed. Does not depend on the order between producers.
struct Tally {
  std::uint64_t frames = 0;
  std::uint64_t positions = 0;
  std::uint64_t bytes = 0;
  std::uint64_t words = 0;

  void operator()(std::uint32_t, std::uint64_t position, std::string_view payload) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, payload.data(), sizeof word);
    ++frames;
    positions += position;
    bytes += payload.size();
    words += word;
  }
  friend bool operator==(const Tally&, const Tally&) = default;
};

/// The tally of `producers` that each submitted `frames` frames, positions from 0.
Tally expected_tally(const PayloadSet& payloads, std::uint64_t frames, std::uint64_t producers = 1);

/// The full check, made once per side before the timed runs: every byte, every channel in order,
/// positions without holes. Channels count from 1.
class FullCheck {
public:
  explicit FullCheck(const PayloadSet& payloads, std::size_t channels = 1)
      : payloads_(payloads), next_(channels, 0) {}

  void operator()(std::uint32_t channel, std::uint64_t position, std::string_view payload) {
    require(channel >= 1 && channel <= next_.size(), "a frame keeps its channel");
    require(position == position_++, "positions have no holes");
    require(payload == payloads_[next_[channel - 1]++], "a channel keeps its order and its bytes");
  }
  std::uint64_t frames() const noexcept { return position_; }

private:
  const PayloadSet& payloads_;
  std::vector<std::uint64_t> next_;
  std::uint64_t position_ = 0;
};

} // namespace bench
