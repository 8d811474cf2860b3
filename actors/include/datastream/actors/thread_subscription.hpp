#pragma once
/// A subscription that a thread reads, whose endpoint may be in another process.

#include <datastream/actors/endpoint_ref.hpp>
#include <datastream/actors/messages.hpp>
#include <datastream/pipe/subscription.hpp>

#include <caf/error.hpp>
#include <caf/fwd.hpp>

#include <chrono>
#include <expected>
#include <memory>
#include <stop_token>

namespace datastream {

/// What `DatastreamSubscription` is for an endpoint of the same process, for any endpoint or
/// fanout. A delivery is acknowledged when it is taken.
///
///     auto in = ThreadSubscription::open(system, *connect(system, "host", 4242));
///     while (auto batch = in->recv(stop))
///       batch->each(print);
///
/// Ownership: move-only; its destruction unsubscribes. Destroy it before the actor system.
/// Thread safety: for one thread at a time; a stop token may be triggered from any.
class ThreadSubscription {
public:
  /// Subscribes. Blocks until the endpoint has answered. Errors: those of `subscribe_atom`, or
  /// CAF's when the endpoint cannot be reached.
  static std::expected<ThreadSubscription, caf::error>
  open(caf::actor_system& system, const EndpointRef& endpoint, Subscribe request = {});

  ThreadSubscription(ThreadSubscription&&) noexcept;
  ThreadSubscription& operator=(ThreadSubscription&&) noexcept;
  ~ThreadSubscription();

  /// Snapshot and first positions.
  const SubscriptionStart& start() const noexcept;

  /// Never waits. Errors: `empty`, `disconnected`.
  std::expected<EventBatch, RecvError> try_recv();
  /// Waits for the next delivery. Errors: `stopped`, `disconnected`.
  std::expected<EventBatch, RecvError> recv(const std::stop_token& stop = {});
  /// Waits at most `timeout`. Errors: `timeout`, `stopped`, `disconnected`.
  std::expected<EventBatch, RecvError> recv_for(std::chrono::nanoseconds timeout,
                                                const std::stop_token& stop = {});
  /// Forgets the names of a stream that is over: see `Subscriber::forget`.
  bool forget(const StreamId& stream);
  /// Why the subscription is disconnected; empty until it is.
  const caf::error& reason() const noexcept;

private:
  struct State;
  explicit ThreadSubscription(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

} // namespace datastream
