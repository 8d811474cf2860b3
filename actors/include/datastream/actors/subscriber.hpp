#pragma once
/// Subscriptions of an actor.

#include <datastream/actors/endpoint_ref.hpp>
#include <datastream/actors/remote.hpp>
#include <datastream/actors/type_ids.hpp>
#include <datastream/model/ids.hpp>
#include <datastream/model/ledger.hpp>
#include <datastream/pipe/event_batch.hpp>

#include <caf/behavior.hpp>
#include <caf/error.hpp>
#include <caf/fwd.hpp>
#include <caf/message_handler.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace datastream {

/// The right to acknowledge one delivery, and with it every one before. Copies are the same right.
/// Harmless when its subscription is gone. Thread safety: for its actor only.
class Receipt {
public:
  /// Acknowledges nothing.
  Receipt() = default;
  void acknowledge() const;

private:
  friend class Subscriber;
  struct State;
  explicit Receipt(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// What an actor does with one subscription. Needs one of the first two.
struct SubscriptionHandlers {
  /// A delivery; acknowledged when this returns. `EventBatch::each` gives frames with names.
  std::function<void(const EventBatch&)> on_batch{};
  /// Instead: a delivery that the actor acknowledges itself, now or later. Until then it counts
  /// against the subscription's capacity.
  std::function<void(const EventBatch&, const Receipt&)> on_delivery{};
  /// The subscription has begun: snapshot and first positions. Before any delivery.
  std::function<void(const SubscriptionStart&)> on_start{};
  /// The endpoint refused, is gone, or its connection broke. Nothing more comes, unless the
  /// subscription is to a `RemoteEndpoint`: that is looked for again, and `on_start` tells when it
  /// was found. A stream that ends says so in `EventBatch::ended`, before this.
  std::function<void(const caf::error&)> on_down{};
};

/// Subscribes its actor to any number of endpoints and fanouts, and acknowledges for it.
///
///     caf::behavior reader(caf::event_based_actor* self, EndpointRef node) {
///       Subscriber in{self};
///       in.subscribe(node, [](const EventBatch& batch) { batch.each(print); });
///       return in.handlers([](int) { /* the actor's own messages */ });
///     }
///
/// The endpoint drops and counts what this actor leaves unacknowledged beyond its capacity, so a
/// slow reader costs the endpoint bounded memory. A reader that blocks should be spawned detached:
/// otherwise it keeps one of CAF's workers from everybody.
///
/// Ownership: a cheap handle; copies are the same subscriber, of which an actor has one. It lives
/// as long as the actor's behavior does; handlers may hold copies of it. Thread safety: for its
/// actor only, like everything of an actor.
class Subscriber {
public:
  /// For `self`, which must be running.
  explicit Subscriber(caf::event_based_actor* self);
  /// For an actor that receives by itself, also a `caf::scoped_actor` of a thread. Subscribing
  /// blocks it until the endpoint has answered; handlers run while it receives:
  ///
  ///     caf::behavior deliveries = in.handlers();
  ///     self->receive_while([&] { return more; })(deliveries);
  ///
  /// A thread that wants nothing else may find `ThreadSubscription` simpler.
  explicit Subscriber(caf::blocking_actor* self);

  /// Subscribes. Answers a number for `unsubscribe`. `request.token` is chosen here.
  std::uint64_t subscribe(const EndpointRef& endpoint, SubscriptionHandlers handlers,
                          Subscribe request = {});
  std::uint64_t subscribe(const EndpointRef& endpoint,
                          std::function<void(const EventBatch&)> on_batch, Subscribe request = {}) {
    return subscribe(endpoint, SubscriptionHandlers{.on_batch = std::move(on_batch)},
                     std::move(request));
  }
  /// Subscribes to a stream of another process, which may not be there yet: it is looked for until
  /// it is found, and again whenever it is lost, first after `RemoteEndpoint::retry_first`, then
  /// twice as late each time up to `RemoteEndpoint::retry_most`. Whoever is found again tells in
  /// `on_start` where its stream goes on; a new life is a new stream.
  std::uint64_t subscribe(RemoteEndpoint endpoint, SubscriptionHandlers handlers,
                          Subscribe request = {});
  std::uint64_t subscribe(RemoteEndpoint endpoint, std::function<void(const EventBatch&)> on_batch,
                          Subscribe request = {}) {
    return subscribe(std::move(endpoint), SubscriptionHandlers{.on_batch = std::move(on_batch)},
                     std::move(request));
  }
  /// Leaves. What is on its way is ignored. Unknown numbers are harmless.
  void unsubscribe(std::uint64_t subscription);
  /// Forgets the names of a stream that is over, of which endpoints of other processes told: how a
  /// reader that follows ever new lives bounds what it keeps of them. Local endpoints share their
  /// catalog with their readers, of which nothing is forgotten here. Whatever comes of the stream
  /// later has the names that come with it. Returns whether any were known.
  bool forget(const StreamId& stream);

  /// The behavior of an actor that subscribes: the handlers of its subscriptions, then its own.
  template <class... Handlers>
  caf::behavior handlers(Handlers... own) const {
    return deliveries().or_else(std::move(own)...);
  }
  caf::behavior handlers() const { return deliveries(); }

private:
  friend class Receipt;
  caf::message_handler deliveries() const;

  struct State;
  std::shared_ptr<State> state_;
};

} // namespace datastream
