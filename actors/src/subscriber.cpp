#include <datastream/actors/subscriber.hpp>

#include "subscriber_state.hpp"
#include <datastream/actors/detail/connecting.hpp>

#include <caf/actor_addr.hpp>
#include <caf/blocking_actor.hpp>
#include <caf/event_based_actor.hpp>

#include <utility>

namespace datastream {

// --- Receipt ------------------------------------------------------------------------------------

void Receipt::acknowledge() const {
  if (!state_)
    return;
  if (const auto subscriber = state_->subscriber.lock())
    subscriber->acknowledge(state_->token, state_->sequence);
}

// --- Subscriber ---------------------------------------------------------------------------------

Subscriber::Subscriber(caf::event_based_actor* self) : state_(State::make(self)) {}

Subscriber::Subscriber(caf::blocking_actor* self) : state_(State::make(self)) {}

std::uint64_t Subscriber::subscribe(const EndpointRef& endpoint, SubscriptionHandlers handlers,
                                    Subscribe request) {
  const auto subscription = state_->add(std::nullopt, std::move(handlers), std::move(request));
  const std::uint64_t number = subscription->number;
  state_->subscribe_at(subscription, endpoint.actor());
  return number;
}

std::uint64_t Subscriber::subscribe(RemoteEndpoint endpoint, SubscriptionHandlers handlers,
                                    Subscribe request) {
  const auto subscription =
      state_->add(std::move(endpoint), std::move(handlers), std::move(request));
  const std::uint64_t number = subscription->number;
  state_->look_for_it(subscription);
  return number;
}

void Subscriber::unsubscribe(std::uint64_t subscription) {
  state_->remove(subscription);
}

bool Subscriber::forget(const StreamId& stream) {
  return state_->forget(stream);
}

caf::message_handler Subscriber::deliveries() const {
  return {
      [state = state_](event_atom, std::uint64_t token, const EventBatch& batch) {
        state->deliver(token, batch);
      },
      [state = state_](down_atom, const caf::actor_addr& endpoint, std::uint64_t ticket,
                       const caf::error& reason) {
        state->endpoint_down(endpoint, ticket, reason);
      },
      [state = state_](retry_atom, std::uint64_t subscription) { state->retry(subscription); },
  };
}

} // namespace datastream
