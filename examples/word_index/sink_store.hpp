#pragma once
/// The node's stream as it comes to the collector as actor messages of the legacy envelope.

#include <datastream/model/frame_batch.hpp>

#include <caf/actor.hpp>
#include <caf/error.hpp>
#include <caf/fwd.hpp>
#include <caf/scoped_actor.hpp>

#include <cstdint>
#include <expected>
#include <functional>

/// A `datastream-sink` with a store of its own. Destroy it before the actor system.
class SinkStore {
public:
  explicit SinkStore(caf::actor_system& system);
  SinkStore(const SinkStore&) = delete;
  SinkStore& operator=(const SinkStore&) = delete;
  ~SinkStore();

  const caf::actor& sink() const { return sink_; }

  /// Gives all frames that are stored to `take`, in the order of positions. Returns how many frames
  /// were stored, those that have been evicted included.
  std::expected<std::uint64_t, caf::error>
  read(caf::scoped_actor& self, const std::function<void(const datastream::FrameBatch&)>& take);

private:
  caf::actor consumer_;
  caf::actor sink_;
};
