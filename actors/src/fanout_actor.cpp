#include <datastream/actors/fanout_actor.hpp>

#include "subscriber_actors.hpp"
#include <datastream/actors/detail/peer_errors.hpp>
#include <datastream/actors/detail/sent_from_here.hpp>
#include <datastream/actors/detail/within_memory.hpp>

#include <datastream/caf/monitors.hpp>
#include <datastream/caf/request.hpp>
#include <datastream/caf/thread_logger.hpp>

#include <caf/actor_system.hpp>

#include <utility>

namespace datastream {

FanoutActor::FanoutActor(caf::actor_config& config)
    : caf::event_based_actor(config), fanout_(std::make_shared<DeliveryFanout>()),
      subscribers_(std::make_unique<SubscriberActors<DeliveryFanout>>(this, fanout_)) {
  compat::hold_system_until_told(this);
}

FanoutActor::~FanoutActor() = default;

caf::behavior FanoutActor::make_behavior() {
  return subscribers_->handlers().or_else(
      [this](publish_atom, const EventBatch& batch) { return publish(batch); },
      [this](publish_atom, const SubscriptionStart& start) { return publish(start); },
      [this](snapshot_atom, const SubscriptionRequest& request) {
        return within_memory<DatastreamSnapshot>(
            [&] { return fanout_->catalog()->snapshot(request).snapshot; });
      },
      [this](ledger_atom) {
        return within_memory<PublicationLedger>([this] {
          PublicationLedger ledger = counts_;
          ledger.fanout = fanout_->ledger();
          return ledger;
        });
      },
      [this](settle_atom) { return subscribers_->settle(); },
      [this](forget_atom, const StreamId& stream) { return forget(stream); }, peer_errors(this),
      compat::exit_before_watchers(this));
}

void FanoutActor::on_exit() {
  subscribers_->clear();
}

EndpointTick FanoutActor::publish(const EventBatch& batch) {
  for (const Declaration& declaration : batch.declarations)
    counts_.conflicting_declarations += fanout_->catalog()->declare(declaration) ? 0 : 1;
  for (const StreamStart& start : batch.starts)
    fanout_->expect_next(start.stream, start.from);
  counts_.malformed_frames += batch.malformed;
  const EndpointTick tick = fanout_->publish(batch.frames);
  counts_.arrived += batch.frames.size();
  (tick.subscribers > 0 ? counts_.published : counts_.bitbucketed) += tick.drained;
  if (batch.ended)
    fanout_->end_stream(batch.ended->stream, batch.ended->assigned);
  fanout_->refresh(); // tells what no frames have carried
  return tick;
}

EndpointTick FanoutActor::publish(const SubscriptionStart& start) {
  counts_.conflicting_declarations += fanout_->catalog()->declare_all(start.snapshot);
  for (const StreamStart& stream : start.starts)
    fanout_->expect_next(stream.stream, stream.from);
  fanout_->refresh();
  return {.subscribers = fanout_->subscriber_count()};
}

caf::result<bool> FanoutActor::forget(const StreamId& stream) {
  if (!sent_from_here(*this))
    return caf::make_error(ActorError::not_local, to_string(stream));
  return fanout_->forget(stream);
}

caf::actor spawn_fanout(caf::actor_system& system) {
  const compat::ThreadLogger thread(system);
  return system.spawn<FanoutActor, caf::detached>();
}

SubscriptionHandlers republish(caf::event_based_actor* self, caf::actor fanout,
                               SubscriptionHandlers also,
                               std::function<void(const caf::error&)> on_fanout_down) {
  // Of the deliveries that were on their way when the fanout ended, each fails.
  const auto down = [on_fanout_down = std::move(on_fanout_down),
                     told = std::make_shared<bool>(false)](const caf::error& reason) {
    if (!std::exchange(*told, true) && on_fanout_down)
      on_fanout_down(reason);
  };
  SubscriptionHandlers handlers;
  handlers.on_delivery = [self, fanout, down, on_batch = std::move(also.on_batch),
                          on_delivery = std::move(also.on_delivery)](const EventBatch& batch,
                                                                     const Receipt& receipt) {
    if (on_batch)
      on_batch(batch);
    if (on_delivery)
      on_delivery(batch, Receipt());
    compat::request_to_the_end(
        self, fanout, [receipt](const EndpointTick&) { receipt.acknowledge(); },
        [receipt, down](const caf::error& reason) {
          receipt.acknowledge();
          down(reason);
        },
        publish_atom_v, batch);
  };
  handlers.on_start = [self, fanout, down,
                       on_start = std::move(also.on_start)](const SubscriptionStart& start) {
    if (on_start)
      on_start(start);
    // A request, because the reply to a mere message would reach the actor's own handlers.
    compat::request_to_the_end(
        self, fanout, [](const EndpointTick&) {}, down, publish_atom_v, start);
  };
  handlers.on_down = std::move(also.on_down);
  return handlers;
}

} // namespace datastream
