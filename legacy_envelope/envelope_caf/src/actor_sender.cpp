#include <datastream/envelope_caf/actor_sender.hpp>

#include "emitter_actor.hpp"
#include "failure.hpp"
#include "send_queue.hpp"

#include <datastream/actors/type_ids.hpp>
#include <datastream/caf/send.hpp>
#include <datastream/caf/thread_logger.hpp>

#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>

#include <new>
#include <utility>

namespace datastream {

struct ActorSender::State {
  std::shared_ptr<SendQueue> queue; // the emitter uses it until it has ended
  caf::actor emitter;

  void wake() noexcept {
    try {
      compat::anon_send(emitter, poll_atom_v);
    } catch (const std::bad_alloc&) {
      queue->not_woken();
    }
  }
};

std::expected<std::unique_ptr<ActorSender>, CarrierError>
ActorSender::open(caf::actor_system& system, SinkPeer peer) {
  const auto bad_option = [](std::string message) {
    return failure(CarrierError::Kind::bad_option, std::move(message));
  };
  const auto* sink = std::get_if<caf::actor>(&peer.sink);
  if (sink && !*sink)
    return bad_option("a sink that is no actor");
  const auto* remote = std::get_if<RemoteEndpoint>(&peer.sink);
  if (const auto valid =
          check_peer(remote ? remote->host : "an actor", remote ? remote->port : 1, peer.queue);
      !valid)
    return std::unexpected(valid.error());
  if (remote && !remote->connector && !system.has_middleman())
    return bad_option("a sink of another process, for a system that has loaded no io::middleman");
  const compat::ThreadLogger thread(system);
  auto queue = std::make_shared<SendQueue>(peer.queue);
  // Detached, so that frames leave while the program blocks CAF's workers.
  caf::actor emitter = system.spawn<EmitterActor, caf::detached>(queue, std::move(peer));
  return std::unique_ptr<ActorSender>(
      new ActorSender(std::make_unique<State>(State{std::move(queue), std::move(emitter)})));
}

ActorSender::ActorSender(std::unique_ptr<State> state) : state_(std::move(state)) {}

ActorSender::~ActorSender() {
  caf::anon_send_exit(state_->emitter, caf::exit_reason::user_shutdown);
  log_unsent("an emitter", state_->queue->ledger());
}

std::size_t ActorSender::send(const FrameBatch& batch) noexcept {
  const SendQueue::Offered offered = state_->queue->offer(batch);
  if (offered.wake)
    state_->wake();
  return offered.frames;
}

bool ActorSender::flush(std::chrono::milliseconds deadline) {
  if (state_->queue->wake_due())
    state_->wake();
  return state_->queue->wait_until_settled(deadline);
}

SenderLedger ActorSender::ledger() const {
  return state_->queue->ledger();
}

} // namespace datastream
