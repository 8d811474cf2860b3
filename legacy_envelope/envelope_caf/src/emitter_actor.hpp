#pragma once
/// The actor behind an `ActorSender`.

#include "outgoing_envelopes.hpp"
#include "send_queue.hpp"

#include <datastream/actors/detail/connecting.hpp>
#include <datastream/caf/monitors.hpp>
#include <datastream/envelope_caf/actor_sender.hpp>

#include <caf/actor.hpp>
#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace datastream {

/// Ships what is queued to a sink: some envelopes as requests, and when all of them are answered
/// the next ones. `poll_atom` tells it that there is something in an empty queue.
class EmitterActor : public caf::event_based_actor {
public:
  EmitterActor(caf::actor_config& config, std::shared_ptr<SendQueue> queue, SinkPeer peer);

  const char* name() const override { return "datastream.emitter"; }
  caf::behavior make_behavior() override;
  void on_exit() override;

private:
  void look_for_sink();
  void found(const caf::actor& sink);
  void not_found(const caf::error& reason);
  void lost(const caf::error& reason);
  void ship();
  void refused(std::uint64_t generation, const caf::error& reason);
  void settled(std::uint64_t generation, std::uint64_t SendLosses::* loss);
  void drop_all();
  std::uint64_t unanswered() const noexcept;

  std::shared_ptr<SendQueue> queue_;
  SinkPeer peer_;
  OutgoingEnvelopes outgoing_;

  caf::actor sink_;                                // null while it is looked for, or gone
  std::optional<compat::TicketedDownWatch> watch_; // of the sink
  bool gone_ = false;                              // for ever
  Search search_;                                  // for a remote sink
  bool retry_due_ = false;                         // before the next search
  bool refusal_logged_ = false;

  // Of the envelopes that were shipped last. Answers that come after the sink was lost carry a
  // generation that is over.
  std::uint64_t generation_ = 0;
  std::uint64_t settled_ = 0;
};

} // namespace datastream
