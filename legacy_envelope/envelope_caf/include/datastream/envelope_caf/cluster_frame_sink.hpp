#pragma once
/// The older way to ship frames to a sink in another actor system (specification 9.2).

#include <datastream/envelope/emitter.hpp>
#include <datastream/envelope_caf/type_ids.hpp>

#include <caf/actor.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace datastream {

/// Where a `DatastreamEmitter` ships its frames to: a `datastream-sink`, each frame as a message of
/// its own, without waiting for an answer. Until the sink is set, and once it is null again, frames
/// are dropped and counted; what becomes of those that were sent, nobody tells.
///
/// A compatibility surface: new code uses a `Bridge`, or an `ActorSender`, which wait for answers
/// and so keep a slow sink from running out of memory.
///
/// Thread safety: every function may be called from any thread. Let go of it, or set it to null,
/// before the sink's actor system ends.
class ClusterFrameSink final : public FrameSink {
public:
  ClusterFrameSink() = default;
  explicit ClusterFrameSink(caf::actor sink) : sink_(std::move(sink)) {}

  /// From now on frames go there.
  void set_sink(caf::actor sink);

  void ship(const StreamId& stream, const FrameView& frame) override;

  /// Frames that were sent.
  std::uint64_t sent() const noexcept { return sent_; }
  /// Frames that were not: there was no sink, no memory, or the node's name is no text.
  std::uint64_t dropped() const noexcept { return dropped_; }

private:
  std::mutex mutex_;
  caf::actor sink_;
  std::atomic<std::uint64_t> sent_{0};
  std::atomic<std::uint64_t> dropped_{0};
};

} // namespace datastream
