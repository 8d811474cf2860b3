#pragma once
/// From a runtime's statistics into a stream (specification 4.3).

#include <datastream/hooks/stats_hook.hpp>
#include <datastream/model/ids.hpp>
#include <datastream/pipe/producer.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace datastream {

/// Submits each report of a worker as one `ActorsRecord`. A report without actors emits nothing, so
/// an idle runtime is silent.
///
/// Nothing is remembered between reports: that a poisoned actor is reported once more, and only
/// once, is up to the runtime.
///
/// Thread safety: `on_tick` may be called from all workers at once. It never blocks and never
/// throws; each worker keeps the memory of its largest report.
class ProducerStatsHook final : public StatsHook {
public:
  /// Onto the channel `runtime.actors`, which it registers. Throws `std::logic_error` when the
  /// catalog refuses, as `DatastreamProducer::register_channel` does.
  explicit ProducerStatsHook(DatastreamProducer producer);
  /// Onto a channel that is registered already.
  ProducerStatsHook(DatastreamProducer producer, ChannelId channel) noexcept;

  void on_tick(std::size_t worker_id, std::span<const ActorSnapshot> snapshots,
               std::size_t omitted) override;

  ChannelId channel() const noexcept { return channel_; }
  std::uint64_t accepted() const noexcept { return accepted_.load(std::memory_order_relaxed); }
  /// Reports that the mux refused, which also counts them by reason, or that found no memory.
  std::uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }

private:
  bool submit(std::size_t worker_id, std::span<const ActorSnapshot> snapshots,
              std::size_t omitted) const noexcept;

  DatastreamProducer producer_;
  ChannelId channel_;
  std::atomic<std::uint64_t> accepted_{0};
  std::atomic<std::uint64_t> refused_{0};
};

} // namespace datastream
