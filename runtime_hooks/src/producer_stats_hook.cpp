#include <datastream/hooks/producer_stats_hook.hpp>

#include <new>
#include <utility>

namespace datastream {

ProducerStatsHook::ProducerStatsHook(DatastreamProducer producer)
    : producer_(std::move(producer)), channel_(producer_.register_record<ActorsRecord>()) {}

ProducerStatsHook::ProducerStatsHook(DatastreamProducer producer, ChannelId channel) noexcept
    : producer_(std::move(producer)), channel_(channel) {}

void ProducerStatsHook::on_tick(std::size_t worker_id, std::span<const ActorSnapshot> snapshots,
                                std::size_t omitted) {
  if (snapshots.empty())
    return;
  auto& counter = submit(worker_id, snapshots, omitted) ? accepted_ : refused_;
  counter.fetch_add(1, std::memory_order_relaxed);
}

bool ProducerStatsHook::submit(std::size_t worker_id, std::span<const ActorSnapshot> snapshots,
                               std::size_t omitted) const noexcept {
  try {
    thread_local ActorsRecord record; // its strings keep their memory
    record.worker_id = worker_id;
    record.actors.assign(snapshots.begin(), snapshots.end());
    record.omitted_actors = omitted;
    return producer_.submit_record(channel_, record);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

} // namespace datastream
