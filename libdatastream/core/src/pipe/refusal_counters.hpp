#pragma once
/// Counting refused submissions without slowing them down.

#include <datastream/model/ledger.hpp>
#include <datastream/model/loss_reason.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace datastream {

/// Counts of refused submissions by reason. A refusal has to cost less than anything else: a
/// program whose mux is full is busy. Each running thread therefore has counters of its own, which
/// it alone writes, so that counting takes no locked instruction and moves no cache line. Threads
/// beyond `places` share the last counters.
///
/// Thread safety: from any thread. Exact: a sum taken after a submission has returned includes it.
class RefusalCounters {
public:
  /// `reason` is one of `mux_refusals`.
  void add(LossReason reason, std::uint64_t frames) noexcept;
  RefusedCounts sum() const noexcept;

private:
  static constexpr std::uint32_t places = 32;
  static constexpr std::uint32_t shared_place = places;
  static constexpr std::uint32_t no_place_yet = ~0U;
  static thread_local constinit std::uint32_t place_of_thread;

  struct PlaceHolder;
  static std::uint32_t take_place() noexcept;

  struct alignas(64) Place {
    std::array<std::atomic<std::uint64_t>, mux_refusals.size()> counts{};
  };
  std::array<Place, places + 1> places_{};
};

inline void RefusalCounters::add(LossReason reason, std::uint64_t frames) noexcept {
  static_assert(static_cast<std::size_t>(mux_refusals.front()) == 1 &&
                static_cast<std::size_t>(mux_refusals.back()) == mux_refusals.size());
  const std::uint32_t mine = place_of_thread != no_place_yet ? place_of_thread : take_place();
  auto& count = places_[mine].counts[static_cast<std::size_t>(reason) - 1];
  if (mine == shared_place) [[unlikely]]
    count.fetch_add(frames, std::memory_order_relaxed);
  else
    count.store(count.load(std::memory_order_relaxed) + frames, std::memory_order_relaxed);
}

} // namespace datastream
