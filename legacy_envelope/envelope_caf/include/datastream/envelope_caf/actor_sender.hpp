#pragma once
/// Envelopes to a sink in this or another actor system.

#include <datastream/actors/remote.hpp>
#include <datastream/envelope/sender.hpp>
#include <datastream/envelope_caf/type_ids.hpp>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

#include <chrono>
#include <cstddef>
#include <expected>
#include <memory>
#include <variant>

namespace datastream {

/// A `datastream-sink`: an actor, or where one is to be found in another process. The latter is
/// looked for until it is found, and again whenever it is lost.
struct SinkPeer {
  std::variant<caf::actor, RemoteEndpoint> sink;
  SendBounds queue{};
};

/// Has an emitter actor (`datastream.emitter`), which sends frames as requests and waits for their
/// answers, a few hundred at a time. A sink that does not answer holds up no more than that and
/// what the queue holds; the rest is dropped and counted. When the connection breaks, what was not
/// answered is counted as lost; what was still queued is kept for the next one, if there can be
/// one.
class ActorSender final : public EnvelopeSender {
public:
  /// Spawns the emitter. Destroy it before the actor system. Errors: `bad_option` for a null actor,
  /// or bounds of zero.
  static std::expected<std::unique_ptr<ActorSender>, CarrierError> open(caf::actor_system& system,
                                                                        SinkPeer peer);
  /// What is still queued is lost, and logged: flush before.
  ~ActorSender() override;

  std::size_t send(const FrameBatch& batch) noexcept override;
  bool flush(std::chrono::milliseconds deadline) override;
  SenderLedger ledger() const override;

private:
  struct State;
  explicit ActorSender(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace datastream
