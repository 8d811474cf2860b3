#pragma once
/// A subscription that a thread of the same process reads (specification 6.2).

#include <datastream/defaults.hpp>
#include <datastream/model/ids.hpp>
#include <datastream/model/ledger.hpp>
#include <datastream/model/subscription_request.hpp>
#include <datastream/pipe/event_batch.hpp>

#include <chrono>
#include <cstddef>
#include <expected>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace datastream {

/// How much may wait for one subscriber. Beyond either bound its copies are dropped and counted.
struct SubscriberCapacity {
  std::size_t frames = defaults::subscription_frames; ///< at least 1
  std::size_t bytes = defaults::subscriber_bytes;     ///< memory pinned, whole blocks counted
};

/// What a subscriber is told before anything else.
struct SubscriptionStart {
  SubscriptionId id;
  DatastreamSnapshot snapshot;     ///< the catalog, shaped by the request
  std::vector<StreamStart> starts; ///< every stream that the fanout knows, whatever the request
};

enum class RecvError {
  empty,        ///< nothing is there now
  timeout,      ///< nothing came in time
  stopped,      ///< the stop token was triggered
  disconnected, ///< nothing will come any more, and everything that had come was taken
};

std::string_view to_string(RecvError error);

/// The reading end of a subscription in the same process. It receives every event from now on,
/// whatever its request: the request shapes the snapshot, readers filter with `matches`. A reader
/// that is slow loses its own copies and nobody else's; `EventBatch::dropped` counts them.
///
///     while (auto batch = subscription.recv())
///       batch->each([](const FrameView& frame) { ... });
///
/// Ownership: move-only; its destruction unsubscribes. What was queued stays readable after the
/// endpoint is gone.
/// Thread safety: may be used from several threads; each delivery goes to one of them.
class DatastreamSubscription {
public:
  DatastreamSubscription(DatastreamSubscription&&) noexcept;
  DatastreamSubscription& operator=(DatastreamSubscription&&) noexcept;
  ~DatastreamSubscription();

  SubscriptionId id() const noexcept;
  const std::string& name() const noexcept;
  const SubscriptionRequest& request() const noexcept;
  const DatastreamSnapshot& snapshot() const noexcept;
  /// First position of each stream that is offered.
  const std::vector<StreamStart>& starts() const noexcept;

  /// Never waits. Errors: `empty`, `disconnected`.
  std::expected<EventBatch, RecvError> try_recv();
  /// Waits for the next delivery. Errors: `stopped`, `disconnected`.
  std::expected<EventBatch, RecvError> recv(const std::stop_token& stop = {});
  /// Waits at most `timeout`. Errors: `timeout`, `stopped`, `disconnected`.
  std::expected<EventBatch, RecvError> recv_for(std::chrono::nanoseconds timeout,
                                                const std::stop_token& stop = {});
  /// Everything that is there now.
  std::vector<EventBatch> drain_available();

  /// Leaves. What is queued is abandoned and counted as such; `recv` then says `disconnected`.
  /// Idempotent; also from another thread while `recv` waits.
  void unsubscribe();

  SubscriberCounts counts() const;

private:
  friend class DeliveryFanout;
  struct State;
  explicit DatastreamSubscription(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

} // namespace datastream
