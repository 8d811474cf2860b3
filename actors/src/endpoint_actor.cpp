#include <datastream/actors/endpoint_actor.hpp>

#include <datastream/caf/handlers.hpp>
#include <datastream/caf/send.hpp>

#include <caf/actor_cast.hpp>
#include <caf/result.hpp>

#include <algorithm>

namespace datastream {
namespace {

/// Passes deliveries to a subscriber actor. Its credit is the fanout's bound on what is
/// outstanding.
class SubscriberActorSink final : public SubscriberSink {
public:
  SubscriberActorSink(caf::actor subscriber, std::uint64_t token)
      : subscriber_(std::move(subscriber)), token_(token) {}

  void deliver(EventBatch batch) noexcept override {
    compat::anon_send(subscriber_, event_atom_v, token_, std::move(batch));
  }

private:
  caf::actor subscriber_;
  std::uint64_t token_;
};

caf::error to_error(const CatalogError& error) {
  switch (error.kind) {
  case CatalogError::Kind::conflicting_name:
  case CatalogError::Kind::conflicting_declaration:
    return caf::make_error(ActorError::conflicting_name, error.message);
  case CatalogError::Kind::stream_ended:
    return caf::make_error(ActorError::stream_ended, error.message);
  case CatalogError::Kind::ids_exhausted:
    return caf::make_error(ActorError::ids_exhausted, error.message);
  case CatalogError::Kind::unknown_stream:
    break;
  }
  return caf::make_error(ActorError::unknown_stream, error.message);
}

} // namespace

EndpointActor::EndpointActor(caf::actor_config& config,
                             std::shared_ptr<DatastreamEndpoint> endpoint, EndpointOptions options,
                             std::shared_ptr<std::latch> gone)
    : caf::event_based_actor(config), endpoint_(std::move(endpoint)), options_(std::move(options)),
      last_frame_(std::chrono::steady_clock::now()) {
  // CAF runs what was attached first last, so by then everybody has been told of the end.
  attach_functor([gone = std::move(gone)] { gone->count_down(); });
}

caf::behavior EndpointActor::make_behavior() {
  if (!manual()) {
    endpoint_->set_waker([self = caf::actor_cast<caf::actor_addr>(this)] {
      if (const auto alive = caf::actor_cast<caf::actor>(self))
        compat::anon_send(alive, poll_atom_v);
    });
    poll_after({});
  }
  return {
      [this](poll_atom) {
        if (!manual())
          poll();
      },
      [this](poll_atom, std::uint64_t generation) {
        if (!manual() && generation == poll_generation_)
          poll();
      },
      [this](tick_atom) -> caf::result<EndpointTick> {
        if (!manual())
          return caf::make_error(ActorError::not_manual);
        return endpoint_->tick();
      },
      [this](subscribe_atom, const Subscribe& request, const caf::actor& reader) {
        return subscribe(request, reader);
      },
      [this](unsubscribe_atom, SubscriptionId id) { return unsubscribe(id); },
      [this](acknowledge_atom, SubscriptionId id, std::uint64_t sequence) {
        acknowledge(id, sequence);
      },
      [this](register_atom, std::string& name, ChannelContent& content) -> caf::result<ChannelId> {
        auto id = endpoint_->try_register_channel(std::move(name), std::move(content));
        if (!id)
          return to_error(id.error());
        return *id;
      },
      [this](submit_atom, ChannelId channel, std::string& payload) {
        return endpoint_->producer().submit_bytes_owned(channel, std::move(payload));
      },
      [this](health_atom) { return endpoint_->submit_health(); },
      [this](ledger_atom) { return endpoint_->ledger(); },
      [this](snapshot_atom, const SubscriptionRequest& request) {
        return endpoint_->catalog()->snapshot(request).snapshot;
      },
      [this](end_atom) {
        endpoint_->end_stream();
        return endpoint_->ledger();
      },
      [this](settle_atom) {
        endpoint_->end_stream();
        settling_.push_back(make_response_promise<bool>());
        auto promise = settling_.back();
        answer_if_settled();
        return promise;
      },
      [this](down_atom, const caf::actor_addr& reader, const caf::error&) {
        subscriber_down(reader);
      },
      // An error that a peer sends back, for example for a reply that it did not expect, is its own
      // affair; CAF's default would end this actor.
      compat::ignore_errors(this),
      compat::exit_before_watchers(this), // whose subscriptions end with what is still to come
  };
}

void EndpointActor::on_exit() {
  endpoint_->set_waker(nullptr);
  endpoint_->end_stream();
  while (!subscribers_.empty())
    remove(subscribers_.begin());
  for (auto& promise : std::exchange(settling_, {}))
    promise.deliver(false);
}

caf::result<SubscriptionStart> EndpointActor::subscribe(const Subscribe& request,
                                                        const caf::actor& reader) {
  if (!reader)
    return caf::make_error(ActorError::no_subscriber);
  // The reader may be anybody: it does not decide alone how much memory it makes us keep.
  const SubscriberCapacity capacity{
      std::min(request.capacity.frames, defaults::subscriber_actor_frames_max),
      std::min(request.capacity.bytes, defaults::subscriber_actor_bytes_max)};
  auto start = endpoint_->attach(request.name, request.request, capacity,
                                 std::make_unique<SubscriberActorSink>(reader, request.token));
  subscribers_.try_emplace(reader.address(), reader, caf::actor(this))
      .first->second.ids.push_back(start.id);
  auto promise = make_response_promise<SubscriptionStart>();
  promise.deliver(std::move(start)); // before any delivery: an ended stream says so at once
  endpoint_->refresh();
  return promise;
}

bool EndpointActor::unsubscribe(SubscriptionId id) {
  const auto owner = owner_of(id);
  if (owner == subscribers_.end())
    return false;
  endpoint_->unsubscribe(id);
  std::erase(owner->second.ids, id);
  if (owner->second.ids.empty())
    subscribers_.erase(owner);
  answer_if_settled();
  return true;
}

/// The sender of this message, if the subscription is one of its own; else the end.
EndpointActor::Subscribers::iterator EndpointActor::owner_of(SubscriptionId id) {
  const auto it = subscribers_.find(caf::actor_cast<caf::actor_addr>(current_sender()));
  if (it == subscribers_.end() || std::ranges::find(it->second.ids, id) != it->second.ids.end())
    return it;
  return subscribers_.end();
}

void EndpointActor::remove(Subscribers::iterator it) {
  // A sink may hold the last handle. Whatever the reader's destruction calls of ours must find the
  // fanout's locks free, so the reader lives a little longer.
  const auto reader = caf::actor_cast<caf::strong_actor_ptr>(it->first);
  for (const SubscriptionId id : it->second.ids)
    endpoint_->unsubscribe(id);
  subscribers_.erase(it);
}

void EndpointActor::acknowledge(SubscriptionId id, std::uint64_t sequence) {
  // A stranger's acknowledgement is passed on under an id that nobody has, and counted as stray.
  endpoint_->acknowledge(owner_of(id) != subscribers_.end() ? id : SubscriptionId{}, sequence);
  answer_if_settled();
}

void EndpointActor::subscriber_down(const caf::actor_addr& reader) {
  if (const auto it = subscribers_.find(reader); it != subscribers_.end())
    remove(it);
  answer_if_settled();
}

bool EndpointActor::manual() const noexcept {
  return options_.tick_interval == EndpointOptions::manual;
}

void EndpointActor::poll() {
  const EndpointTick tick = endpoint_->tick();
  const auto now = std::chrono::steady_clock::now();
  if (tick.drained > 0)
    last_frame_ = now;
  // One drain per turn, so that acknowledgements are never starved. Under load the mux calls for
  // the next turn before the timer does: see `Mux::set_waker`.
  if (now - last_frame_ < defaults::idle_after || !endpoint_->try_idle())
    return poll_after(options_.tick_interval);
  ++poll_generation_;
  if (options_.health_interval.count() > 0 && now >= health_poll_) {
    // One such timer at a time: wake-ups in between do not start others.
    health_poll_ = now + options_.health_interval;
    compat::delayed_send(this, caf::actor(this), options_.health_interval, poll_atom_v);
  }
}

void EndpointActor::poll_after(std::chrono::microseconds delay) {
  const std::uint64_t generation = ++poll_generation_;
  const caf::actor self(this);
  if (delay.count() == 0)
    compat::send(this, self, poll_atom_v, generation);
  else
    compat::delayed_send(this, self, delay, poll_atom_v, generation);
}

void EndpointActor::answer_if_settled() {
  if (settling_.empty() || !endpoint_->settled())
    return;
  for (auto& promise : std::exchange(settling_, {}))
    promise.deliver(true);
}

} // namespace datastream
