#pragma once
/// The actor behind a `Bridge`.

#include "arrival_queue.hpp"

#include <datastream/defaults.hpp>
#include <datastream/envelope/sender.hpp>
#include <datastream/envelope_caf/bridge.hpp>

#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/result.hpp>

#include <memory>
#include <vector>

namespace datastream {

/// What a bridge and its actor share.
struct BridgeParts {
  std::vector<std::unique_ptr<EnvelopeSender>> senders; // null for a link that does not send
  ArrivalQueue arrivals{defaults::sender_bytes};
  /// What the actor had counted when it ended. For others: once it has.
  SinkLedger last{};
};

/// Sends what it subscribes to over the links, and passes on what arrives. `follow_atom` with an
/// endpoint subscribes, and is answered when the subscription has begun; `poll_atom` tells that
/// there are arrivals; `forget_atom` with a stream forgets it.
class BridgeActor : public caf::event_based_actor {
public:
  BridgeActor(caf::actor_config& config, std::shared_ptr<BridgeParts> parts, BridgeOptions options);
  ~BridgeActor() override;

  const char* name() const override { return "datastream.bridge"; }
  caf::behavior make_behavior() override;
  void on_exit() override; // may run twice: see `compat::exit_before_watchers`

private:
  SinkLedger ledger() const;
  caf::result<bool> forget(const StreamId& stream);

  struct State;
  std::shared_ptr<BridgeParts> parts_;
  BridgeOptions options_; // until it runs
  std::unique_ptr<State> state_;
};

} // namespace datastream
