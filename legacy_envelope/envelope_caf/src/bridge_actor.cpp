#include "bridge_actor.hpp"

#include "envelope_mailbox.hpp"
#include "feed.hpp"

#include <datastream/actors/detail/follow.hpp>
#include <datastream/actors/detail/peer_errors.hpp>
#include <datastream/actors/detail/sent_from_here.hpp>
#include <datastream/actors/subscriber.hpp>
#include <datastream/actors/type_ids.hpp>
#include <datastream/caf/handlers.hpp>
#include <datastream/caf/monitors.hpp>
#include <datastream/defaults.hpp>

#include <caf/actor_addr.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace datastream {

struct BridgeActor::State {
  State(BridgeActor* self, std::shared_ptr<BridgeParts> shared, const BridgeOptions& options)
      : parts(std::move(shared)),
        feed(self, options.into, options.admission, [this] { on_idle(); }),
        mailbox(self, feed, options.links.size(), defaults::sender_bytes), subscriber(self) {
    if (options.into)
      taker.emplace(options.into, caf::actor(self), taker_down_atom_v);
  }

  SubscriptionHandlers sending() {
    return {.on_batch = [this](const EventBatch& batch) { send(batch.frames); }};
  }
  void send(const FrameBatch& frames);
  void take_arrivals();
  void pass_on(const std::vector<Arrival>& arrivals);
  void on_idle();

  std::shared_ptr<BridgeParts> parts;
  Feed feed;
  EnvelopeMailbox mailbox;
  Subscriber subscriber;
  std::optional<compat::TicketedDownWatch> taker;
  std::uint64_t carried = 0;
  const Subscribe request{.name = "bridge"};
};

/// To all links but the one over which frames of this stream come.
void BridgeActor::State::send(const FrameBatch& frames) {
  if (frames.empty())
    return;
  feed.admission().keep_out(frames.stream());
  const PeerName* const came_from = feed.admission().sender_of(frames.stream());
  for (std::size_t link = 0; link < parts->senders.size(); ++link) {
    const auto& sender = parts->senders[link];
    if (sender && (!came_from || came_from->link != link))
      sender->send(frames);
  }
}

void BridgeActor::State::take_arrivals() {
  while (!feed.busy()) {
    const std::vector<Arrival> arrivals = parts->arrivals.take();
    if (arrivals.empty())
      return;
    pass_on(arrivals);
  }
}

void BridgeActor::State::pass_on(const std::vector<Arrival>& arrivals) {
  for (const Arrival& arrival : arrivals) {
    if (arrival.frames.empty()) {
      feed.admission().peer_left(arrival.peer);
      continue;
    }
    carried += arrival.frames.size();
    feed.offer(arrival.peer, arrival.frames);
  }
}

void BridgeActor::State::on_idle() {
  mailbox.taken_over();
  // Also when messages keep the feed busy: there may be no end of them, and receivers would wait.
  pass_on(parts->arrivals.take());
  take_arrivals();
}

BridgeActor::BridgeActor(caf::actor_config& config, std::shared_ptr<BridgeParts> parts,
                         BridgeOptions options)
    : caf::event_based_actor(config), parts_(std::move(parts)), options_(std::move(options)) {}

BridgeActor::~BridgeActor() = default;

caf::behavior BridgeActor::make_behavior() {
  state_ = std::make_unique<State>(this, parts_, options_);
  const BridgeOptions options = std::exchange(options_, {});
  if (options.into)
    state_->feed.declare(options.catalog);
  if (const auto* remote = std::get_if<RemoteEndpoint>(&options.from))
    state_->subscriber.subscribe(*remote, state_->sending(), state_->request);
  return state_->subscriber.handlers(
      [this](const DatastreamFrame& frame) { return state_->mailbox.receive(frame); },
      [this](follow_atom, const caf::actor& endpoint) {
        return follow(this, state_->subscriber, endpoint, state_->sending(), state_->request);
      },
      [this](poll_atom) { state_->take_arrivals(); }, [this](ledger_atom) { return ledger(); },
      [this](sender_down_atom, const caf::actor_addr& gone, std::uint64_t ticket,
             const caf::error&) { state_->mailbox.left(gone, ticket); },
      [this](taker_down_atom, std::uint64_t ticket, const caf::error& reason) {
        if (state_->taker && state_->taker->sent(ticket))
          quit(reason);
      },
      [this](forget_atom, const StreamId& stream) { return forget(stream); }, peer_errors(this),
      compat::exit_before_watchers(this)); // who see then what it had counted
}

SinkLedger BridgeActor::ledger() const {
  SinkLedger ledger = state_->feed.ledger();
  state_->mailbox.add_to(ledger);
  ledger.carried = state_->carried;
  return ledger;
}

caf::result<bool> BridgeActor::forget(const StreamId& stream) {
  if (!sent_from_here(*this))
    return caf::make_error(ActorError::not_local, to_string(stream));
  const bool named = state_->subscriber.forget(stream);
  return state_->feed.admission().forget(stream) || named;
}

void BridgeActor::on_exit() {
  parts_->arrivals.close(); // receivers that wait for room
  if (!state_)
    return;
  parts_->last = ledger();
  state_->mailbox.close();
  state_.reset();
}

} // namespace datastream
