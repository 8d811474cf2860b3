#include <datastream/actors/subscriber.hpp>

#include <datastream/caf/monitors.hpp>
#include <datastream/caf/send.hpp>

#include <caf/actor_addr.hpp>

#include <map>
#include <utility>
#include <vector>

namespace datastream {

struct Subscriber::State {
  struct Subscription {
    caf::actor endpoint;
    SubscriptionHandlers handlers;
    SubscriptionId id{}; // unknown until the endpoint has answered
    /// Names that a remote endpoint told; a local one shares its own catalog.
    std::shared_ptr<Catalog> names = std::make_shared<Catalog>();
  };
  // Shared, because a handler may end its own subscription while it runs.
  using SubscriptionPtr = std::shared_ptr<Subscription>;

  explicit State(caf::event_based_actor* owner) : self(owner) {}

  SubscriptionPtr find(std::uint64_t token) const {
    const auto it = subscriptions.find(token);
    return it == subscriptions.end() ? nullptr : it->second;
  }

  void deliver(std::uint64_t token, const EventBatch& batch) {
    const SubscriptionPtr subscription = find(token);
    if (!subscription || subscription->id != batch.subscription)
      return; // unsubscribed meanwhile
    if (is_local(subscription->endpoint)) {
      subscription->handlers.on_batch(batch);
    } else {
      EventBatch named = batch;
      for (const Declaration& declaration : named.declarations)
        learn(*subscription->names, declaration);
      named.names = DeclaredNames(subscription->names);
      subscription->handlers.on_batch(named);
    }
    if (subscriptions.contains(token))
      compat::send(self, subscription->endpoint, acknowledge_atom_v, batch.subscription,
                   batch.sequence);
  }

  bool is_local(const caf::actor& endpoint) const { return endpoint->node() == self->node(); }

  static void learn(Catalog& names, const Declaration& declaration) {
    if (const auto* stream = std::get_if<StreamDescriptorPtr>(&declaration))
      names.declare_stream(**stream);
    else if (const auto known = names.declare_channel(*std::get<ChannelDescriptorPtr>(declaration));
             !known)
      return; // another meaning for a known id: the first stays, as everywhere
  }

  void started(std::uint64_t token, const caf::actor& endpoint, const SubscriptionStart& start) {
    const SubscriptionPtr subscription = find(token);
    if (!subscription)
      return leave(endpoint, start.id); // unsubscribed before its id was known
    subscription->id = start.id;
    if (!is_local(endpoint))
      subscription->names->declare_all(start.snapshot);
    if (subscription->handlers.on_start)
      subscription->handlers.on_start(start);
  }

  void leave(const caf::actor& endpoint, SubscriptionId id) {
    // A request, because the reply to a mere message would reach the actor's own handlers.
    compat::request(self, endpoint, caf::infinite, unsubscribe_atom_v, id)
        .then([](bool) {}, [](const caf::error&) { /* the endpoint is gone: so is the rest */ });
  }

  void failed(std::uint64_t token, const caf::error& reason) {
    const SubscriptionPtr subscription = find(token);
    if (!subscription)
      return;
    subscriptions.erase(token);
    if (subscription->handlers.on_down)
      subscription->handlers.on_down(reason);
  }

  void endpoint_down(const caf::actor_addr& endpoint, const caf::error& reason) {
    watches.erase(endpoint);
    std::vector<std::uint64_t> gone;
    for (const auto& [token, subscription] : subscriptions)
      if (subscription->endpoint.address() == endpoint)
        gone.push_back(token);
    for (const std::uint64_t token : gone)
      failed(token, reason);
  }

  caf::event_based_actor* self;
  std::uint64_t last_token = 0;
  std::map<std::uint64_t, SubscriptionPtr> subscriptions;
  std::map<caf::actor_addr, compat::DownWatch> watches;
};

Subscriber::Subscriber(caf::event_based_actor* self) : state_(std::make_shared<State>(self)) {
  // Handlers may hold copies of this subscriber, or of handles that hold it: break such cycles.
  self->attach_functor([weak = std::weak_ptr(state_)] {
    if (const auto state = weak.lock()) {
      state->watches.clear();
      const auto gone = std::exchange(state->subscriptions, {});
    }
  });
}

std::uint64_t Subscriber::subscribe(const EndpointRef& endpoint, SubscriptionHandlers handlers,
                                    Subscribe request) {
  State& state = *state_;
  const std::uint64_t token = ++state.last_token;
  const caf::actor self(state.self);
  const caf::actor& to = endpoint.actor();
  state.subscriptions.emplace(
      token, std::make_shared<State::Subscription>(State::Subscription{to, std::move(handlers)}));
  if (to)
    state.watches.try_emplace(to.address(), to, self, down_atom_v, to.address());
  request.token = token;
  // Without a timeout: an endpoint that is gone is noticed otherwise, and one that answers late
  // would serve a subscription that nobody knows any more.
  compat::request(state.self, to, caf::infinite, subscribe_atom_v, std::move(request), self)
      .then(
          [weak = std::weak_ptr(state_), token, to](const SubscriptionStart& start) {
            if (const auto alive = weak.lock())
              alive->started(token, to, start);
          },
          [weak = std::weak_ptr(state_), token](const caf::error& reason) {
            if (const auto alive = weak.lock())
              alive->failed(token, reason);
          });
  return token;
}

void Subscriber::unsubscribe(std::uint64_t token) {
  const State::SubscriptionPtr subscription = state_->find(token);
  if (!subscription)
    return;
  state_->subscriptions.erase(token);
  if (subscription->id != SubscriptionId{})
    state_->leave(subscription->endpoint, subscription->id);
}

caf::message_handler Subscriber::deliveries() const {
  return {
      [state = state_](event_atom, std::uint64_t token, const EventBatch& batch) {
        state->deliver(token, batch);
      },
      [state = state_](down_atom, const caf::actor_addr& endpoint, const caf::error& reason) {
        state->endpoint_down(endpoint, reason);
      },
  };
}

} // namespace datastream
