#include "emitter_actor.hpp"

#include <datastream/actors/detail/peer_errors.hpp>
#include <datastream/actors/type_ids.hpp>
#include <datastream/caf/render.hpp>
#include <datastream/caf/request.hpp>
#include <datastream/caf/send.hpp>
#include <datastream/defaults.hpp>
#include <datastream/log_sink.hpp>

#include <caf/actor_addr.hpp>
#include <caf/actor_system.hpp>
#include <caf/sec.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace datastream {
namespace {

/// What is on its way at a time: enough for a link across a continent to carry tens of thousands of
/// frames a second, and little to lose with a connection.
constexpr OutgoingEnvelopes::Bounds shipped_at_once{.envelope_bytes =
                                                        std::numeric_limits<std::uint32_t>::max(),
                                                    .frames = defaults::batch_frames,
                                                    .bytes = defaults::batch_bytes};

} // namespace

EmitterActor::EmitterActor(caf::actor_config& config, std::shared_ptr<SendQueue> queue,
                           SinkPeer peer)
    : caf::event_based_actor(config), queue_(std::move(queue)), peer_(std::move(peer)),
      outgoing_(*queue_, shipped_at_once) {
  compat::hold_system_until_told(this); // sinks of other processes watch it
}

caf::behavior EmitterActor::make_behavior() {
  if (const auto* sink = std::get_if<caf::actor>(&peer_.sink))
    found(*sink);
  else
    look_for_sink();
  return {
      [this](poll_atom) {
        if (gone_)
          drop_all();
        else if (unanswered() == 0)
          ship();
      },
      [this](retry_atom) {
        if (std::exchange(retry_due_, false)) // else somebody else has sent this
          look_for_sink();
      },
      [this](down_atom, std::uint64_t ticket, const caf::error& reason) {
        if (watch_ && watch_->sent(ticket))
          lost(reason);
      },
      peer_errors(this),
  };
}

void EmitterActor::on_exit() {
  watch_.reset();
  sink_ = nullptr;
  peer_ = {};
}

void EmitterActor::look_for_sink() {
  look_for(
      this, std::get<RemoteEndpoint>(peer_.sink), [this](const caf::actor& sink) { found(sink); },
      [this](const caf::error& reason) { not_found(reason); });
}

void EmitterActor::found(const caf::actor& sink) {
  sink_ = sink;
  watch_.emplace(sink, caf::actor(this), down_atom_v);
  if (const auto* remote = std::get_if<RemoteEndpoint>(&peer_.sink))
    search_.found(*remote);
  queue_->note(&SenderLedger::connects);
  ship();
}

void EmitterActor::not_found(const caf::error& reason) {
  const auto& remote = std::get<RemoteEndpoint>(peer_.sink);
  search_.failed(system(), remote, reason);
  retry_due_ = true;
  compat::delayed_send(this, caf::actor(this), search_.next_delay(remote), retry_atom_v);
}

void EmitterActor::lost(const caf::error& reason) {
  watch_.reset();
  sink_ = nullptr;
  if (const std::uint64_t count = unanswered()) {
    ++generation_;
    queue_->lost(&SendLosses::connection_broken, count);
    settled_ += count;
  }
  queue_->note(&SenderLedger::broken); // last: who sees it finds what was lost with it
  if (std::holds_alternative<RemoteEndpoint>(peer_.sink))
    return not_found(reason);
  gone_ = true;
  log_message(LogSeverity::error, "a sink is gone, and what is sent to it from now on is lost: " +
                                      compat::render(system(), reason));
  drop_all();
}

std::uint64_t EmitterActor::unanswered() const noexcept {
  return outgoing_.frames() - settled_;
}

void EmitterActor::ship() {
  if (!sink_)
    return;
  settled_ = 0;
  ++generation_;
  outgoing_.refill();
  outgoing_.for_each([&](std::string_view envelope) {
    compat::request(this, sink_, caf::infinite, DatastreamFrame{std::string(envelope)})
        .then([this, generation = generation_] { settled(generation, nullptr); },
              [this, generation = generation_](const caf::error& reason) {
                refused(generation, compat::why_unanswered(reason));
              });
  });
}

void EmitterActor::refused(std::uint64_t generation, const caf::error& reason) {
  if (generation != generation_)
    return;
  if (reason == caf::sec::request_receiver_down) // the sink's end, which `lost` is told soon
    return settled(generation, &SendLosses::connection_broken);
  if (!std::exchange(refusal_logged_, true))
    log_message(LogSeverity::error,
                "what is sent to a sink is refused: " + compat::render(system(), reason));
  settled(generation, &SendLosses::peer_refused);
}

void EmitterActor::settled(std::uint64_t generation, std::uint64_t SendLosses::* loss) {
  if (generation != generation_)
    return;
  ++settled_;
  if (loss)
    queue_->lost(loss, 1);
  else
    queue_->sent(1);
  if (unanswered() == 0)
    ship();
}

void EmitterActor::drop_all() {
  while (outgoing_.refill())
    queue_->lost(&SendLosses::connection_broken, outgoing_.frames());
}

} // namespace datastream
