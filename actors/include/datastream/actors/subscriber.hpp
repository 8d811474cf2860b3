#pragma once
/// Subscriptions of an actor.

#include <datastream/actors/endpoint_ref.hpp>
#include <datastream/actors/type_ids.hpp>
#include <datastream/model/ledger.hpp>
#include <datastream/pipe/event_batch.hpp>

#include <caf/behavior.hpp>
#include <caf/error.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/message_handler.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace datastream {

/// What an actor does with one subscription. Only `on_batch` is needed.
struct SubscriptionHandlers {
  /// A delivery; acknowledged when this returns. `EventBatch::each` gives frames with names.
  std::function<void(const EventBatch&)> on_batch;
  /// The subscription has begun: snapshot and first positions. Before any delivery.
  std::function<void(const SubscriptionStart&)> on_start{};
  /// The endpoint refused, is gone, or its connection broke: nothing more comes. A stream that
  /// ends says so in `EventBatch::ended`, before this.
  std::function<void(const caf::error&)> on_down{};
};

/// Subscribes its actor to any number of endpoints, and acknowledges for it.
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

  /// Subscribes. Answers a number for `unsubscribe`. `request.token` is chosen here.
  std::uint64_t subscribe(const EndpointRef& endpoint, SubscriptionHandlers handlers,
                          Subscribe request = {});
  std::uint64_t subscribe(const EndpointRef& endpoint,
                          std::function<void(const EventBatch&)> on_batch, Subscribe request = {}) {
    return subscribe(endpoint, SubscriptionHandlers{.on_batch = std::move(on_batch)},
                     std::move(request));
  }
  /// Leaves. What is on its way is ignored. Unknown numbers are harmless.
  void unsubscribe(std::uint64_t token);

  /// The behavior of an actor that subscribes: the handlers of its subscriptions, then its own.
  template <class... Handlers>
  caf::behavior handlers(Handlers... own) const {
    return deliveries().or_else(std::move(own)...);
  }
  caf::behavior handlers() const { return deliveries(); }

private:
  caf::message_handler deliveries() const;

  struct State;
  std::shared_ptr<State> state_;
};

} // namespace datastream
