#pragma once
/// Receives the frames of legacy peers in this or another actor system.

#include <datastream/defaults.hpp>
#include <datastream/envelope/admission.hpp>
#include <datastream/envelope_caf/type_ids.hpp>
#include <datastream/model/subscription_request.hpp>

#include <caf/actor.hpp>
#include <caf/behavior.hpp>
#include <caf/error.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/fwd.hpp>

#include <cstddef>
#include <expected>
#include <memory>

namespace datastream {

struct SinkOptions {
  /// Who gets the frames: a consumer or a fanout of this system.
  caf::actor into{};
  AdmissionOptions admission{};
  /// Names of channels, which envelopes do not have; see `load_catalog`. Without them frames are
  /// stored whole and shown raw.
  DatastreamSnapshot catalog{};
  /// Memory of envelopes that wait until `into` has taken over what came before, which is as much
  /// at most: their bytes, and 256 more for each. At most 4 GiB. Those who send requests and wait
  /// for answers never come near it.
  std::size_t waiting_bytes = defaults::sender_bytes;
};

/// The actor of the protocol `datastream-sink`. Messages:
///
///     DatastreamFrame -> nothing, once the frame has been taken over or is known to be refused
///     ledger_atom     -> SinkLedger
///
/// The empty answer to a request is the sender's credit. Bytes that are no envelope are dropped and
/// counted by kind. What is let in is said at `FrameAdmission`; the sender of a message is the peer
/// that it speaks of. The sink ends when `into` does. Spawn it with `spawn_sink`.
class SinkActor : public caf::event_based_actor {
public:
  SinkActor(caf::actor_config& config, SinkOptions options);
  ~SinkActor() override;

  const char* name() const override { return "datastream-sink"; }
  caf::behavior make_behavior() override;
  void on_exit() override;

private:
  struct State;
  SinkOptions options_; // until it runs
  std::unique_ptr<State> state_;
};

/// Errors: `no_actor` when `into` is null.
std::expected<caf::actor, caf::error> spawn_sink(caf::actor_system& system, SinkOptions options);

} // namespace datastream
