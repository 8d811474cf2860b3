#pragma once
/// What every actor does that serves subscriber actors.

#include <datastream/actors/type_ids.hpp>
#include <datastream/caf/monitors.hpp>
#include <datastream/caf/send.hpp>
#include <datastream/defaults.hpp>
#include <datastream/pipe/delivery_fanout.hpp>

#include <caf/actor.hpp>
#include <caf/actor_addr.hpp>
#include <caf/actor_cast.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/message_handler.hpp>
#include <caf/result.hpp>
#include <caf/typed_response_promise.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace datastream {

/// Passes deliveries to a subscriber actor. Its credit is the fanout's bound on what is
/// outstanding.
class SubscriberActorSink final : public SubscriberSink {
public:
  SubscriberActorSink(caf::actor subscriber, std::uint64_t token)
      : subscriber_(std::move(subscriber)), token_(token) {}

  void deliver(EventBatch batch) override {
    compat::anon_send(subscriber_, event_atom_v, token_, std::move(batch));
  }

private:
  caf::actor subscriber_;
  std::uint64_t token_;
};

/// The subscriber actors of one fanout, on behalf of the actor that owns it. `Fanout` is a
/// `DeliveryFanout`, or a `DatastreamEndpoint` in front of one.
///
/// Thread safety: for its actor only, like everything of an actor.
template <class Fanout>
class SubscriberActors {
public:
  SubscriberActors(caf::event_based_actor* self, std::shared_ptr<Fanout> fanout)
      : self_(self), fanout_(std::move(fanout)) {}

  /// Subscribing, leaving, acknowledging, and dying.
  caf::message_handler handlers() {
    return {
        [this](subscribe_atom, const Subscribe& request, const caf::actor& reader) {
          return subscribe(request, reader);
        },
        [this](unsubscribe_atom, SubscriptionId id) { return unsubscribe(id); },
        [this](acknowledge_atom, SubscriptionId id, std::uint64_t sequence) {
          acknowledge(id, sequence);
        },
        [this](down_atom, const caf::actor_addr& reader, std::uint64_t ticket, const caf::error&) {
          if (const auto it = readers_.find(reader);
              it != readers_.end() && it->second.watch.sent(ticket))
            remove(it);
          answer_if_settled();
        },
    };
  }

  /// Answers true once every subscriber actor has acknowledged everything.
  caf::typed_response_promise<bool> settle() {
    settling_.push_back(self_->make_response_promise<bool>());
    auto promise = settling_.back();
    answer_if_settled();
    return promise;
  }

  /// Lets go of all of them.
  void clear() {
    while (!readers_.empty())
      remove(readers_.begin());
    for (auto& promise : std::exchange(settling_, {}))
      promise.deliver(false);
  }

private:
  struct Reader {
    Reader(const caf::actor& reader, const caf::actor& self)
        : watch(reader, self, down_atom_v, reader.address()) {}
    std::vector<SubscriptionId> ids;
    compat::TicketedDownWatch watch;
  };
  using Readers = std::map<caf::actor_addr, Reader>;

  caf::result<SubscriptionStart> subscribe(const Subscribe& request, const caf::actor& reader) {
    if (!reader)
      return caf::make_error(ActorError::no_subscriber);
    // The reader may be anybody: it does not decide alone how much memory it makes us keep.
    const SubscriberCapacity capacity{
        std::min(request.capacity.frames, defaults::subscriber_actor_frames_max),
        std::min(request.capacity.bytes, defaults::subscriber_actor_bytes_max)};
    auto promise = self_->make_response_promise<SubscriptionStart>();
    SubscriptionId id{};
    try {
      auto& known =
          readers_.try_emplace(reader.address(), reader, caf::actor(self_)).first->second.ids;
      known.emplace_back(); // now, because nothing may fail after attaching
      auto start = fanout_->attach(request.name, request.request, capacity,
                                   std::make_unique<SubscriberActorSink>(reader, request.token));
      known.back() = id = start.id;
      promise.deliver(std::move(start)); // before any delivery: an ended stream says so at once
    } catch (const std::bad_alloc&) {
      remove(reader.address(), id);
      promise.deliver(caf::make_error(ActorError::out_of_memory));
      return promise;
    }
    fanout_->refresh(id); // this one only, or each join would cost a walk over all
    return promise;
  }

  bool unsubscribe(SubscriptionId id) {
    const auto owner = owner_of(id);
    if (owner == readers_.end())
      return false;
    remove(owner->first, id);
    answer_if_settled();
    return true;
  }

  void acknowledge(SubscriptionId id, std::uint64_t sequence) {
    // A stranger's acknowledgement is passed on under an id that nobody has, and counted as stray.
    fanout_->acknowledge(owner_of(id) != readers_.end() ? id : SubscriptionId{}, sequence);
    answer_if_settled();
  }

  /// The sender of the current message, if the subscription is one of its own; else the end.
  Readers::iterator owner_of(SubscriptionId id) {
    const auto it = readers_.find(caf::actor_cast<caf::actor_addr>(self_->current_sender()));
    if (it == readers_.end() || std::ranges::find(it->second.ids, id) != it->second.ids.end())
      return it;
    return readers_.end();
  }

  /// One subscription, which need not be there.
  void remove(const caf::actor_addr& reader, SubscriptionId id) {
    fanout_->unsubscribe(id);
    const auto it = readers_.find(reader);
    if (it == readers_.end())
      return;
    std::erase(it->second.ids, id);
    if (it->second.ids.empty())
      readers_.erase(it);
  }

  void remove(Readers::iterator it) {
    // A sink may hold the last handle. Whatever the reader's destruction calls of ours must find
    // the fanout's locks free, so the reader lives a little longer.
    const auto reader = caf::actor_cast<caf::strong_actor_ptr>(it->first);
    for (const SubscriptionId id : it->second.ids)
      fanout_->unsubscribe(id);
    readers_.erase(it);
  }

  void answer_if_settled() {
    if (settling_.empty() || !fanout_->settled())
      return;
    for (auto& promise : std::exchange(settling_, {}))
      promise.deliver(true);
  }

  caf::event_based_actor* self_;
  std::shared_ptr<Fanout> fanout_;
  Readers readers_;
  std::vector<caf::typed_response_promise<bool>> settling_;
};

} // namespace datastream
