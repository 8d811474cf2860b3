#include <datastream/envelope_caf/sink_actor.hpp>

#include "envelope_mailbox.hpp"
#include "feed.hpp"

#include <datastream/actors/detail/peer_errors.hpp>
#include <datastream/actors/type_ids.hpp>
#include <datastream/caf/monitors.hpp>
#include <datastream/caf/thread_logger.hpp>

#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>

#include <cstdint>
#include <utility>

namespace datastream {

struct SinkActor::State {
  State(SinkActor* self, const SinkOptions& options)
      : feed(self, options.into, options.admission, [this] { mailbox.taken_over(); }),
        mailbox(self, feed, 0, options.waiting_bytes),
        taker(options.into, caf::actor(self), taker_down_atom_v) {}

  Feed feed;
  EnvelopeMailbox mailbox;
  compat::TicketedDownWatch taker;
};

SinkActor::SinkActor(caf::actor_config& config, SinkOptions options)
    : caf::event_based_actor(config), options_(std::move(options)) {
  compat::hold_system_until_told(this); // emitters of other processes watch it
}

SinkActor::~SinkActor() = default;

caf::behavior SinkActor::make_behavior() {
  state_ = std::make_unique<State>(this, options_);
  state_->feed.declare(std::exchange(options_, {}).catalog);
  return {
      [this](const DatastreamFrame& frame) { return state_->mailbox.receive(frame); },
      [this](ledger_atom) {
        SinkLedger ledger = state_->feed.ledger();
        state_->mailbox.add_to(ledger);
        return ledger;
      },
      [this](sender_down_atom, const caf::actor_addr& gone, std::uint64_t ticket,
             const caf::error&) { state_->mailbox.left(gone, ticket); },
      [this](taker_down_atom, std::uint64_t ticket, const caf::error& reason) {
        if (state_->taker.sent(ticket))
          quit(reason);
      },
      peer_errors(this),
  };
}

void SinkActor::on_exit() {
  if (state_)
    state_->mailbox.close();
  state_.reset();
}

std::expected<caf::actor, caf::error> spawn_sink(caf::actor_system& system, SinkOptions options) {
  if (!options.into)
    return std::unexpected(caf::make_error(ActorError::no_actor));
  const compat::ThreadLogger thread(system);
  return system.spawn<SinkActor>(std::move(options));
}

} // namespace datastream
