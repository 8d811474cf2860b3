#include <datastream/actors/endpoint_actor.hpp>

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
                             std::shared_ptr<DatastreamEndpoint> endpoint, EndpointOptions options)
    : caf::event_based_actor(config), endpoint_(std::move(endpoint)), options_(std::move(options)),
      last_frame_(std::chrono::steady_clock::now()) {}

caf::behavior EndpointActor::make_behavior() {
  // An error that a peer sends back, for example for a reply that it did not expect, is its own
  // affair; CAF's default would end this actor.
  set_error_handler([](const caf::error&) {});
  set_down_handler([this](caf::down_msg& down) { subscriber_down(down.source); });
  if (options_.tick_interval != EndpointOptions::manual) {
    endpoint_->set_waker([self = caf::actor_cast<caf::actor_addr>(this)] {
      if (const auto alive = caf::actor_cast<caf::actor>(self))
        compat::anon_send(alive, poll_atom_v);
    });
    poll_after({});
  }
  return {
      [this](poll_atom) { poll(poll_generation_); },
      [this](poll_atom, std::uint64_t generation) { poll(generation); },
      [this](tick_atom) -> caf::result<EndpointTick> {
        if (options_.tick_interval != EndpointOptions::manual)
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
        settling_.push_back(make_response_promise<bool>());
        auto promise = settling_.back();
        answer_if_settled();
        return promise;
      },
  };
}

void EndpointActor::on_exit() {
  endpoint_->set_waker(nullptr);
  endpoint_->end_stream();
  for (const auto& [reader, ids] : subscribers_)
    for (const SubscriptionId id : ids)
      endpoint_->unsubscribe(id);
  subscribers_.clear();
  settling_.clear();
}

caf::result<SubscriptionStart> EndpointActor::subscribe(const Subscribe& request,
                                                        const caf::actor& reader) {
  if (!reader)
    return caf::make_error(ActorError::no_subscriber);
  auto start = endpoint_->attach(request.name, request.request, request.capacity,
                                 std::make_unique<SubscriberActorSink>(reader, request.token));
  auto& ids = subscribers_[reader.address()];
  if (ids.empty())
    monitor(reader);
  ids.push_back(start.id);
  auto promise = make_response_promise<SubscriptionStart>();
  promise.deliver(std::move(start)); // before any delivery: an ended stream says so at once
  endpoint_->refresh();
  return promise;
}

bool EndpointActor::unsubscribe(SubscriptionId id) {
  for (auto it = subscribers_.begin(); it != subscribers_.end(); ++it) {
    if (std::erase(it->second, id) == 0)
      continue;
    if (it->second.empty()) {
      demonitor(it->first);
      subscribers_.erase(it);
    }
    endpoint_->unsubscribe(id);
    answer_if_settled();
    return true;
  }
  return false;
}

bool EndpointActor::owned_by_sender(SubscriptionId id) {
  const auto owner = subscribers_.find(caf::actor_cast<caf::actor_addr>(current_sender()));
  return owner != subscribers_.end() && std::ranges::find(owner->second, id) != owner->second.end();
}

void EndpointActor::acknowledge(SubscriptionId id, std::uint64_t sequence) {
  // A stranger's acknowledgement is passed on under an id that nobody has, and counted as stray.
  endpoint_->acknowledge(owned_by_sender(id) ? id : SubscriptionId{}, sequence);
  answer_if_settled();
}

void EndpointActor::subscriber_down(const caf::actor_addr& reader) {
  const auto it = subscribers_.find(reader);
  if (it == subscribers_.end())
    return;
  for (const SubscriptionId id : it->second)
    endpoint_->unsubscribe(id);
  subscribers_.erase(it);
  answer_if_settled();
}

void EndpointActor::poll(std::uint64_t generation) {
  if (generation != poll_generation_)
    return;
  const EndpointTick tick = endpoint_->tick();
  const auto now = std::chrono::steady_clock::now();
  if (tick.drained > 0)
    last_frame_ = now;
  // One drain per turn, so that acknowledgements are never starved. Under load the mux calls for
  // the next turn before the timer does: see `Mux::set_waker`.
  if (now - last_frame_ < defaults::idle_after || !endpoint_->try_idle())
    poll_after(options_.tick_interval);
  else if (options_.health_interval.count() > 0)
    poll_after(options_.health_interval);
  else
    ++poll_generation_;
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
  if (settling_.empty())
    return;
  const auto ledger = endpoint_->ledger();
  for (const auto& [reader, ids] : subscribers_)
    for (const SubscriberLedger& entry : ledger.fanout.subscribers)
      if (entry.counts.outstanding > 0 && std::ranges::find(ids, entry.id) != ids.end())
        return;
  for (auto& promise : std::exchange(settling_, {}))
    promise.deliver(true);
}

} // namespace datastream
