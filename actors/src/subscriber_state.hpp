#pragma once
/// The subscriptions behind a `Subscriber`.

#include <datastream/actors/detail/connecting.hpp>
#include <datastream/actors/subscriber.hpp>
#include <datastream/caf/monitors.hpp>
#include <datastream/pipe/catalog.hpp>

#include <caf/actor.hpp>
#include <caf/actor_addr.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <variant>

namespace datastream {

/// Every attempt to subscribe has a token of its own, which its deliveries carry: what belongs to
/// an attempt that is over is ignored.
struct Subscriber::State : std::enable_shared_from_this<Subscriber::State> {
  struct Subscription {
    std::uint64_t number; // for the user
    std::optional<RemoteEndpoint> remote;
    SubscriptionHandlers handlers;
    Subscribe request;

    std::uint64_t token = 0; // of the present attempt; 0 between attempts
    caf::actor endpoint{};
    SubscriptionId id{}; // unknown until the endpoint has answered
    /// Names that a remote endpoint told; a local one shares its own catalog.
    std::shared_ptr<Catalog> names{};
    bool malformed_logged = false;
    Search search{};        // for a remote endpoint
    bool retry_due = false; // before the next search
  };
  // Shared, because a handler may end its own subscription while it runs.
  using SubscriptionPtr = std::shared_ptr<Subscription>;

  /// The state of a running actor. When that ends, everything is let go of: handlers may hold
  /// copies of the subscriber, or of handles that hold it.
  template <class Self>
  static std::shared_ptr<State> make(Self* self);

  SubscriptionPtr add(std::optional<RemoteEndpoint> remote, SubscriptionHandlers handlers,
                      Subscribe request);
  void remove(std::uint64_t number);
  bool forget(const StreamId& stream);

  void subscribe_at(const SubscriptionPtr& subscription, const caf::actor& endpoint);
  void look_for_it(const SubscriptionPtr& subscription);
  void retry(std::uint64_t number);

  void deliver(std::uint64_t token, const EventBatch& batch);
  void acknowledge(std::uint64_t token, std::uint64_t sequence);
  void endpoint_down(const caf::actor_addr& endpoint, std::uint64_t ticket,
                     const caf::error& reason);

private:
  using Owner = std::variant<caf::event_based_actor*, caf::blocking_actor*>;

  explicit State(Owner owner) : self(owner) {}

  SubscriptionPtr find_token(std::uint64_t token) const;
  void started(std::uint64_t token, const caf::actor& endpoint, const SubscriptionStart& start);
  void failed(std::uint64_t token, const caf::error& reason);
  void not_found(Subscription& subscription, const caf::error& reason);
  void retry_later(Subscription& subscription);
  void end_attempt(Subscription& subscription);
  void leave(const caf::actor& endpoint, SubscriptionId id);
  void release_watch(const caf::actor_addr& endpoint);
  caf::actor self_handle() const;
  bool is_local(const caf::actor& endpoint) const;

  Owner self;
  std::uint64_t last_token = 0;
  std::map<std::uint64_t, SubscriptionPtr> by_number;
  std::map<std::uint64_t, SubscriptionPtr> by_token;
  std::map<caf::actor_addr, compat::TicketedDownWatch> watches;
};

struct Receipt::State {
  std::weak_ptr<Subscriber::State> subscriber;
  std::uint64_t token;
  std::uint64_t sequence;
};

} // namespace datastream
