#include <datastream/actors/endpoint_actor.hpp>

#include "endpoint_fanout_actor.hpp"
#include "subscriber_actors.hpp"
#include <datastream/actors/detail/peer_errors.hpp>
#include <datastream/actors/detail/within_memory.hpp>

#include <datastream/caf/send.hpp>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/result.hpp>
#include <caf/send.hpp>
#include <caf/typed_response_promise.hpp>

#include <algorithm>
#include <utility>

namespace datastream {
namespace {

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
      gone_(std::move(gone)), last_frame_(std::chrono::steady_clock::now()) {
  // CAF runs what was attached first last, so by then everybody has been told of the end.
  attach_functor([gone = gone_] { gone->count_down(); });
}

EndpointActor::~EndpointActor() = default;

caf::behavior EndpointActor::make_behavior() {
  if (!manual()) {
    endpoint_->set_waker([self = caf::actor_cast<caf::actor_addr>(this)] {
      if (const auto alive = caf::actor_cast<caf::actor>(self))
        compat::anon_send(alive, poll_atom_v);
    });
    poll_after({});
  }
  const bool own_actor = options_.fanout == FanoutPlacement::own_actor;
  return caf::message_handler{
      [this](poll_atom) {
        if (!manual())
          poll();
      },
      [this](poll_atom, std::uint64_t generation) {
        if (!manual() && generation == poll_generation_)
          poll();
      },
      [this](register_atom, std::string& name, ChannelContent& content) {
        return within_memory<ChannelId>([&]() -> caf::result<ChannelId> {
          auto id = endpoint_->try_register_channel(std::move(name), std::move(content));
          if (!id)
            return to_error(id.error());
          return *id;
        });
      },
      [this](submit_atom, ChannelId channel, std::string& payload) {
        return endpoint_->producer().submit_bytes_owned(channel, std::move(payload));
      },
      [this](health_atom) { return endpoint_->submit_health(); },
      [this](ledger_atom) {
        return within_memory<PipeLedger>([this] { return endpoint_->ledger(); });
      },
      [this](snapshot_atom, const SubscriptionRequest& request) {
        return within_memory<DatastreamSnapshot>(
            [&] { return endpoint_->catalog()->snapshot(request).snapshot; });
      },
      peer_errors(this),
      compat::exit_before_watchers(this), // whose subscriptions end with what is still to come
  }
      .or_else(own_actor ? passing_on() : serving());
}

/// What it does for subscribers itself.
caf::message_handler EndpointActor::serving() {
  subscribers_ = std::make_unique<SubscriberActors<DatastreamEndpoint>>(this, endpoint_);
  return subscribers_->handlers().or_else(
      [this](tick_atom) -> caf::result<EndpointTick> {
        if (!manual())
          return caf::make_error(ActorError::not_manual);
        return endpoint_->tick();
      },
      [this](end_atom) {
        endpoint_->end_stream();
        return endpoint_->ledger();
      },
      [this](settle_atom) {
        endpoint_->end_stream();
        return subscribers_->settle();
      });
}

/// The same, done by a fanout actor, which answers in its place.
caf::message_handler EndpointActor::passing_on() {
  fanout_ = system().spawn<EndpointFanoutActor, caf::detached>(endpoint_, gone_);
  fanout_watch_.emplace(fanout_, caf::actor(this), down_atom_v);
  return {
      [this](subscribe_atom ask, Subscribe& request, const caf::actor& reader) {
        return compat::delegate(this, fanout_, ask, std::move(request), reader);
      },
      [this](unsubscribe_atom ask, SubscriptionId id) {
        return compat::delegate(this, fanout_, ask, id);
      },
      [this](acknowledge_atom say, SubscriptionId id, std::uint64_t sequence) {
        return compat::delegate(this, fanout_, say, id, sequence);
      },
      [this](tick_atom) {
        auto promise = make_response_promise<EndpointTick>();
        if (manual()) {
          endpoint_->drain();
          promise.delegate(fanout_, publish_atom_v);
        } else {
          promise.deliver(caf::make_error(ActorError::not_manual));
        }
        return promise;
      },
      [this](end_atom ask) { return compat::delegate(this, fanout_, ask); },
      [this](settle_atom ask) { return compat::delegate(this, fanout_, ask); },
      [this](down_atom, std::uint64_t ticket, const caf::error& reason) {
        if (fanout_watch_->sent(ticket))
          quit(reason);
      },
  };
}

void EndpointActor::on_exit() {
  endpoint_->set_waker(nullptr);
  endpoint_->end_stream(); // before subscribers are told that this actor is gone
  if (subscribers_)
    subscribers_->clear();
  fanout_watch_.reset();
  if (fanout_)
    caf::anon_send_exit(std::exchange(fanout_, nullptr), caf::exit_reason::user_shutdown);
}

bool EndpointActor::manual() const noexcept {
  return options_.tick_interval == EndpointOptions::manual;
}

void EndpointActor::poll() {
  if (publishing_)
    return; // the answer polls again
  if (subscribers_)
    return poll_again(endpoint_->tick().drained > 0);
  if (!endpoint_->drain())
    return poll_again(false);
  publishing_ = true;
  compat::request(this, fanout_, caf::infinite, publish_atom_v)
      .then(
          [this](const EndpointTick& tick) {
            publishing_ = false;
            poll_again(tick.drained > 0);
          },
          [this](const caf::error& reason) { quit(reason); });
}

void EndpointActor::poll_again(bool frames_came) {
  const auto now = std::chrono::steady_clock::now();
  if (frames_came)
    last_frame_ = now;
  // One drain per turn, so that acknowledgements are never starved. Under load the mux calls for
  // the next turn before the timer does: see `Mux::set_waker`.
  if (now - last_frame_ < defaults::idle_after || !endpoint_->try_idle())
    return poll_after(options_.tick_interval);
  ++poll_generation_;
  const auto interval = endpoint_->health_interval();
  if (interval.count() > 0 && now >= health_poll_) {
    // One such timer at a time: wake-ups in between do not start others.
    health_poll_ = now + interval;
    compat::delayed_send(this, caf::actor(this), interval, poll_atom_v);
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

} // namespace datastream
