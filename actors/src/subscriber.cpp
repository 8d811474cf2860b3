#include <datastream/actors/subscriber.hpp>

#include <datastream/caf/monitors.hpp>
#include <datastream/caf/send.hpp>

#include <caf/actor_addr.hpp>

#include <map>
#include <set>

namespace datastream {
namespace {

constexpr std::chrono::seconds subscribe_timeout{30};

} // namespace

struct Subscriber::State {
  struct Subscription {
    caf::actor endpoint;
    SubscriptionHandlers handlers;
    SubscriptionId id; // unknown until the endpoint has answered
    /// Names that a remote endpoint told; a local one shares its own catalog.
    std::shared_ptr<Catalog> names;
  };

  explicit State(caf::event_based_actor* owner) : self(owner) {}

  void deliver(std::uint64_t token, const EventBatch& batch) {
    const auto it = subscriptions.find(token);
    if (it == subscriptions.end())
      return; // unsubscribed meanwhile
    // The handler may unsubscribe, which frees the subscription.
    const caf::actor endpoint = it->second.endpoint;
    const auto handler = it->second.handlers.on_batch;
    if (is_local(endpoint)) {
      handler(batch);
    } else {
      EventBatch named = batch;
      for (const Declaration& declaration : named.declarations)
        learn(*it->second.names, declaration);
      named.names = ChannelNames(it->second.names);
      handler(named);
    }
    compat::send(self, endpoint, acknowledge_atom_v, batch.subscription, batch.sequence);
  }

  bool is_local(const caf::actor& endpoint) const { return endpoint->node() == self->node(); }

  static void learn(Catalog& names, const Declaration& declaration) {
    if (const auto* stream = std::get_if<StreamDescriptorPtr>(&declaration))
      names.declare_stream(**stream);
    else if (const auto known = names.declare_channel(*std::get<ChannelDescriptorPtr>(declaration));
             !known)
      return; // another meaning for a known id: the first stays, as everywhere
  }

  void started(std::uint64_t token, const SubscriptionStart& start) {
    const auto it = subscriptions.find(token);
    if (it == subscriptions.end())
      return;
    it->second.id = start.id;
    if (!is_local(it->second.endpoint))
      it->second.names->declare_all(start.snapshot);
    if (const auto handler = it->second.handlers.on_start)
      handler(start);
  }

  void failed(std::uint64_t token, const caf::error& reason) {
    const auto it = subscriptions.find(token);
    if (it == subscriptions.end())
      return;
    const auto handler = std::move(it->second.handlers.on_down);
    subscriptions.erase(it);
    if (handler)
      handler(reason);
  }

  caf::event_based_actor* self;
  std::uint64_t last_token = 0;
  std::map<std::uint64_t, Subscription> subscriptions;
  std::set<caf::actor_addr> watched; // a watch cannot be taken back, so there is one per endpoint
};

Subscriber::Subscriber(caf::event_based_actor* self) : state_(std::make_shared<State>(self)) {}

std::uint64_t Subscriber::subscribe(const EndpointRef& endpoint, SubscriptionHandlers handlers,
                                    Subscribe request) {
  State& state = *state_;
  const std::uint64_t token = ++state.last_token;
  const caf::actor self(state.self);
  state.subscriptions.emplace(
      token,
      State::Subscription{endpoint.actor(), std::move(handlers), {}, std::make_shared<Catalog>()});
  if (state.watched.insert(endpoint.actor().address()).second)
    compat::notify_when_down(endpoint.actor(), self, down_atom_v, endpoint.actor().address());
  request.token = token;
  compat::request(state.self, endpoint.actor(), subscribe_timeout, subscribe_atom_v,
                  std::move(request), self)
      .then(
          [weak = std::weak_ptr(state_), token](const SubscriptionStart& start) {
            if (const auto alive = weak.lock())
              alive->started(token, start);
          },
          [weak = std::weak_ptr(state_), token](const caf::error& reason) {
            if (const auto alive = weak.lock())
              alive->failed(token, reason);
          });
  return token;
}

void Subscriber::unsubscribe(std::uint64_t token) {
  const auto it = state_->subscriptions.find(token);
  if (it == state_->subscriptions.end())
    return;
  compat::send(state_->self, it->second.endpoint, unsubscribe_atom_v, it->second.id);
  state_->subscriptions.erase(it);
}

caf::message_handler Subscriber::deliveries() const {
  return {
      [state = state_](event_atom, std::uint64_t token, const EventBatch& batch) {
        state->deliver(token, batch);
      },
      [state = state_](down_atom, const caf::actor_addr& endpoint, const caf::error& reason) {
        state->watched.erase(endpoint);
        std::vector<std::uint64_t> gone;
        for (const auto& [token, subscription] : state->subscriptions)
          if (subscription.endpoint.address() == endpoint)
            gone.push_back(token);
        for (const std::uint64_t token : gone)
          state->failed(token, reason);
      },
  };
}

} // namespace datastream
