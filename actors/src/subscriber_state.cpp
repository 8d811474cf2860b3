#include "subscriber_state.hpp"

#include <datastream/actors/detail/connecting.hpp>

#include <datastream/caf/render.hpp>
#include <datastream/caf/request.hpp>
#include <datastream/log_sink.hpp>

#include <caf/abstract_actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/blocking_actor.hpp>
#include <caf/event_based_actor.hpp>

#include <algorithm>
#include <ranges>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace datastream {

template <class Self>
std::shared_ptr<Subscriber::State> Subscriber::State::make(Self* self) {
  std::shared_ptr<State> state(new State(self));
  compat::hold_system_until_told(self); // endpoints of other processes watch it
  static_cast<caf::abstract_actor*>(self)->attach_functor([weak = std::weak_ptr(state)] {
    if (const auto alive = weak.lock()) {
      alive->watches.clear();
      alive->by_token.clear();
      const auto gone = std::exchange(alive->by_number, {});
    }
  });
  return state;
}
template std::shared_ptr<Subscriber::State> Subscriber::State::make(caf::event_based_actor*);
template std::shared_ptr<Subscriber::State> Subscriber::State::make(caf::blocking_actor*);

caf::actor Subscriber::State::self_handle() const {
  return std::visit([](auto* owner) { return caf::actor_cast<caf::actor>(owner); }, self);
}

bool Subscriber::State::is_local(const caf::actor& endpoint) const {
  return endpoint->node() == std::visit([](auto* owner) { return owner->node(); }, self);
}

Subscriber::State::SubscriptionPtr Subscriber::State::add(std::optional<RemoteEndpoint> remote,
                                                          SubscriptionHandlers handlers,
                                                          Subscribe request) {
  const std::uint64_t number = ++last_token;
  return by_number
      .emplace(number, std::make_shared<Subscription>(Subscription{
                           number, std::move(remote), std::move(handlers), std::move(request)}))
      .first->second;
}

void Subscriber::State::remove(std::uint64_t number) {
  const auto it = by_number.find(number);
  if (it == by_number.end())
    return;
  const SubscriptionPtr subscription = it->second;
  by_number.erase(it);
  if (subscription->token == 0)
    return;
  const caf::actor endpoint = subscription->endpoint;
  const SubscriptionId id = subscription->id;
  end_attempt(*subscription);
  if (id != SubscriptionId{})
    leave(endpoint, id); // else it leaves when its id is known: see `started`
}

void Subscriber::State::end_attempt(Subscription& subscription) {
  by_token.erase(subscription.token);
  subscription.token = 0;
  subscription.id = {};
  subscription.names.reset();
  if (const auto endpoint = std::exchange(subscription.endpoint, nullptr))
    release_watch(endpoint.address());
}

void Subscriber::State::release_watch(const caf::actor_addr& endpoint) {
  const bool used = std::ranges::any_of(
      by_token, [&](const auto& entry) { return entry.second->endpoint.address() == endpoint; });
  if (!used)
    watches.erase(endpoint);
}

// --- subscribing --------------------------------------------------------------------------------

void Subscriber::State::subscribe_at(const SubscriptionPtr& subscription,
                                     const caf::actor& endpoint) {
  const std::uint64_t token = subscription->token = ++last_token;
  subscription->endpoint = endpoint;
  subscription->names = std::make_shared<Catalog>();
  by_token.emplace(token, subscription);
  const caf::actor reader = self_handle();
  if (endpoint)
    watches.try_emplace(endpoint.address(), endpoint, reader, down_atom_v, endpoint.address());
  Subscribe request = subscription->request;
  request.token = token;
  const auto on_start = [weak = weak_from_this(), token, endpoint](const SubscriptionStart& start) {
    if (const auto alive = weak.lock())
      alive->started(token, endpoint, start);
  };
  const auto on_error = [weak = weak_from_this(), token](const caf::error& reason) {
    if (const auto alive = weak.lock())
      alive->failed(token, reason);
  };
  // Without a timeout: an endpoint that is gone is noticed otherwise, and one that answers late
  // would serve a subscription that nobody knows any more.
  std::visit(
      [&](auto* owner) {
        compat::request_to_the_end(owner, endpoint, on_start, on_error, subscribe_atom_v,
                                   std::move(request), reader);
      },
      self);
}

void Subscriber::State::started(std::uint64_t token, const caf::actor& endpoint,
                                const SubscriptionStart& start) {
  const SubscriptionPtr subscription = find_token(token);
  if (!subscription)
    return leave(endpoint, start.id); // unsubscribed before its id was known
  subscription->id = start.id;
  if (subscription->remote)
    subscription->search.found(*subscription->remote);
  if (!is_local(endpoint))
    subscription->names->declare_all(start.snapshot);
  if (subscription->handlers.on_start)
    subscription->handlers.on_start(start);
}

void Subscriber::State::leave(const caf::actor& endpoint, SubscriptionId id) {
  // A request, because the reply to a mere message would reach the actor's own handlers.
  std::visit(
      [&](auto* owner) {
        compat::request_to_the_end(
            owner, endpoint, [](bool) {},
            [](const caf::error&) { /* the endpoint is gone: so is the rest */ },
            unsubscribe_atom_v, id);
      },
      self);
}

void Subscriber::State::failed(std::uint64_t token, const caf::error& reason) {
  const SubscriptionPtr subscription = find_token(token);
  if (!subscription)
    return;
  end_attempt(*subscription);
  if (!subscription->remote)
    by_number.erase(subscription->number);
  if (subscription->handlers.on_down)
    subscription->handlers.on_down(reason);
  if (subscription->remote)
    retry_later(*subscription);
}

// --- looking for a remote endpoint --------------------------------------------------------------

void Subscriber::State::look_for_it(const SubscriptionPtr& subscription) {
  const std::uint64_t number = subscription->number;
  const auto found = [weak = weak_from_this(), number](const caf::actor& endpoint) {
    if (const auto alive = weak.lock())
      if (const auto it = alive->by_number.find(number); it != alive->by_number.end())
        alive->subscribe_at(it->second, endpoint);
  };
  const auto not_found = [weak = weak_from_this(), number](const caf::error& reason) {
    if (const auto alive = weak.lock())
      if (const auto it = alive->by_number.find(number); it != alive->by_number.end())
        alive->not_found(*it->second, reason);
  };
  std::visit([&](auto* owner) { look_for(owner, *subscription->remote, found, not_found); }, self);
}

void Subscriber::State::not_found(Subscription& subscription, const caf::error& reason) {
  const auto& system =
      std::visit([](auto* owner) -> const caf::actor_system& { return owner->system(); }, self);
  subscription.search.failed(system, *subscription.remote, reason);
  retry_later(subscription);
}

void Subscriber::State::retry_later(Subscription& subscription) {
  const auto delay = subscription.search.next_delay(*subscription.remote);
  subscription.retry_due = true;
  std::visit(
      [&](auto* owner) {
        compat::delayed_send(owner, self_handle(), delay, retry_atom_v, subscription.number);
      },
      self);
}

void Subscriber::State::retry(std::uint64_t number) {
  const auto it = by_number.find(number);
  if (it == by_number.end() || !std::exchange(it->second->retry_due, false))
    return; // it was unsubscribed, or somebody else has sent this
  const SubscriptionPtr subscription = it->second;
  look_for_it(subscription);
}

// --- names ---------------------------------------------------------------------------------------

bool Subscriber::State::forget(const StreamId& stream) {
  bool known = false;
  for (const auto& subscription : std::views::values(by_token))
    known |= subscription->names->forget(stream);
  return known;
}

// --- receiving ----------------------------------------------------------------------------------

Subscriber::State::SubscriptionPtr Subscriber::State::find_token(std::uint64_t token) const {
  const auto it = by_token.find(token);
  return it == by_token.end() ? nullptr : it->second;
}

void Subscriber::State::deliver(std::uint64_t token, const EventBatch& batch) {
  const SubscriptionPtr subscription = find_token(token);
  if (!subscription || subscription->id != batch.subscription)
    return; // unsubscribed meanwhile
  const auto handle = [&](const EventBatch& named) {
    const SubscriptionHandlers& handlers = subscription->handlers;
    if (handlers.on_delivery) {
      const auto right = std::make_shared<const Receipt::State>(
          Receipt::State{weak_from_this(), token, batch.sequence});
      handlers.on_delivery(named, Receipt(right));
    } else {
      handlers.on_batch(named);
      acknowledge(token, batch.sequence);
    }
  };
  if (is_local(subscription->endpoint))
    return handle(batch);
  if (batch.malformed > 0 && !std::exchange(subscription->malformed_logged, true))
    log_message(LogSeverity::warning, "a peer sent frames that make no sense; they are counted");
  EventBatch named = batch;
  for (const Declaration& declaration : named.declarations)
    std::ignore = subscription->names->declare(declaration); // the first meaning stays
  named.names = DeclaredNames(subscription->names);
  handle(named);
}

void Subscriber::State::acknowledge(std::uint64_t token, std::uint64_t sequence) {
  const SubscriptionPtr subscription = find_token(token);
  if (!subscription)
    return;
  std::visit(
      [&](auto* owner) {
        compat::send(owner, subscription->endpoint, acknowledge_atom_v, subscription->id, sequence);
      },
      self);
}

void Subscriber::State::endpoint_down(const caf::actor_addr& endpoint, std::uint64_t ticket,
                                      const caf::error& reason) {
  const auto watch = watches.find(endpoint);
  if (watch == watches.end() || !watch->second.sent(ticket))
    return;
  watches.erase(watch);
  std::vector<std::uint64_t> gone;
  for (const auto& [token, subscription] : by_token)
    if (subscription->endpoint.address() == endpoint)
      gone.push_back(token);
  for (const std::uint64_t token : gone)
    failed(token, reason);
}

} // namespace datastream
