#pragma once
/// A fanout without a mux: what a collector passes on, offered to subscribers of its own.

#include <datastream/actors/subscriber.hpp>
#include <datastream/actors/type_ids.hpp>
#include <datastream/pipe/delivery_fanout.hpp>

#include <caf/actor.hpp>
#include <caf/behavior.hpp>
#include <caf/error.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/fwd.hpp>
#include <caf/result.hpp>

#include <functional>
#include <memory>

namespace datastream {

template <class Fanout>
class SubscriberActors;

/// Offers deliveries of any number of streams to subscriber actors, which treat it as they treat an
/// endpoint: `Subscriber`, `ConsumerActor`, `publish` and `connect` take its handle as an
/// `EndpointRef`. Positions stay what they are, so readers see what the collector has missed as
/// gaps, and what they miss themselves.
///
///     caf::actor fanout = spawn_fanout(system);
///     in.subscribe(node, republish(self, fanout));
///
/// Messages besides those that serve subscribers:
///
///     publish_atom, EventBatch            -> EndpointTick
///     publish_atom, SubscriptionStart     -> EndpointTick: what is known at the beginning
///     snapshot_atom, SubscriptionRequest  -> DatastreamSnapshot
///     ledger_atom                         -> PublicationLedger
///     settle_atom                         -> bool: true once all readers have acknowledged all
///     forget_atom, StreamId               -> bool: whether it was known; `ActorError::not_local`
///
/// Streams that are over stay until somebody says `forget_atom`, which is taken from the same
/// process only: see `DeliveryFanout::forget`.
///
/// It ends when somebody stops it; readers are told then. Spawn it with `spawn_fanout`.
class FanoutActor : public caf::event_based_actor {
public:
  explicit FanoutActor(caf::actor_config& config);
  ~FanoutActor() override;

  const char* name() const override { return "datastream.fanout"; }
  caf::behavior make_behavior() override;
  void on_exit() override; // may run twice: see `compat::exit_before_watchers`

private:
  EndpointTick publish(const EventBatch& batch);
  EndpointTick publish(const SubscriptionStart& start);
  caf::result<bool> forget(const StreamId& stream);

  std::shared_ptr<DeliveryFanout> fanout_;
  std::unique_ptr<SubscriberActors<DeliveryFanout>> subscribers_;
  PublicationLedger counts_; // but for what the fanout counts
};

/// Detached, as an endpoint actor is, so that it publishes while the program blocks CAF's workers.
caf::actor spawn_fanout(caf::actor_system& system);

/// The handlers of a subscription of `self` that passes everything on to a fanout actor. A delivery
/// is acknowledged when the fanout has published it, so a slow fanout costs bounded memory. What
/// `also` has is called as well, before.
///
/// When the fanout does not take what it is sent, because it is gone, `on_fanout_down` is called
/// with the reason, once. Deliveries are acknowledged all the same: from then on they are for
/// nobody, until the actor unsubscribes.
SubscriptionHandlers republish(caf::event_based_actor* self, caf::actor fanout,
                               SubscriptionHandlers also = {},
                               std::function<void(const caf::error&)> on_fanout_down = {});

} // namespace datastream
