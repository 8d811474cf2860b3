#include "refusal_counters.hpp"

#include <bit>

namespace datastream {
namespace {

std::atomic<std::uint32_t> taken_places{0}; // a bit each

} // namespace

thread_local constinit std::uint32_t RefusalCounters::place_of_thread = no_place_yet;

/// Takes a free place for its thread, and gives it back when the thread ends.
struct RefusalCounters::PlaceHolder {
  PlaceHolder() noexcept {
    std::uint32_t taken = taken_places.load(std::memory_order_relaxed);
    while (taken != ~0U) {
      const auto place = static_cast<std::uint32_t>(std::countr_one(taken));
      // Acquire: the last counts of the thread that had this place before.
      if (taken_places.compare_exchange_weak(taken, taken | 1U << place, std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
        place_of_thread = place;
        return;
      }
    }
    place_of_thread = shared_place;
  }
  ~PlaceHolder() {
    if (place_of_thread != shared_place)
      taken_places.fetch_and(~(1U << place_of_thread), std::memory_order_release);
    place_of_thread = shared_place; // for what later destructors of this thread submit
  }
  PlaceHolder(const PlaceHolder&) = delete;
  PlaceHolder& operator=(const PlaceHolder&) = delete;
};

std::uint32_t RefusalCounters::take_place() noexcept {
  thread_local PlaceHolder holder;
  return place_of_thread;
}

RefusedCounts RefusalCounters::sum() const noexcept {
  std::array<std::uint64_t, mux_refusals.size()> sums{};
  for (const Place& place : places_)
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i] += place.counts[i].load(std::memory_order_relaxed);
  return {.mux_frames_full = sums[0],
          .mux_bytes_full = sums[1],
          .stream_ended = sums[2],
          .payload_too_large = sums[3],
          .out_of_memory = sums[4]};
}

} // namespace datastream
