#pragma once
/// The actor that drains one endpoint and serves its subscriber actors.

#include <datastream/actors/endpoint_options.hpp>
#include <datastream/actors/type_ids.hpp>
#include <datastream/caf/monitors.hpp>
#include <datastream/pipe/endpoint.hpp>

#include <caf/actor.hpp>
#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/message_handler.hpp>
#include <caf/result.hpp>

#include <chrono>
#include <cstdint>
#include <latch>
#include <memory>
#include <optional>

namespace datastream {

template <class Fanout>
class SubscriberActors;

/// Drains its endpoint every `tick_interval` while frames come, falls idle after
/// `defaults::idle_after` of silence, and is woken by the next submission. Sends subscribers their
/// deliveries and counts what they acknowledge, or leaves that to an actor of its own. `Endpoint`
/// spawns it, detached: on a thread of its own it keeps draining while the program blocks all of
/// CAF's workers.
///
/// However it ends, it ends the stream first: the mux is closed, drained and published.
class EndpointActor : public caf::event_based_actor {
public:
  /// How many times its latch is counted down until nothing of it is left: by itself and by a
  /// fanout actor of its own.
  static int actors(const EndpointOptions& options) {
    return options.fanout == FanoutPlacement::own_actor ? 2 : 1;
  }

  /// Counts `gone` down when it has ended, and everybody who watches it has been sent word: a
  /// middleman that stops before it has handled such a word keeps the actor, and with it the actor
  /// system, for ever.
  EndpointActor(caf::actor_config& config, std::shared_ptr<DatastreamEndpoint> endpoint,
                EndpointOptions options, std::shared_ptr<std::latch> gone);
  ~EndpointActor() override;

  const char* name() const override { return "datastream.endpoint"; }
  caf::behavior make_behavior() override;
  void on_exit() override; // may run twice: see `compat::exit_before_watchers`

private:
  caf::message_handler serving();
  caf::message_handler passing_on();
  bool manual() const noexcept;
  void poll();
  void poll_again(bool frames_came);
  void poll_after(std::chrono::microseconds delay);

  std::shared_ptr<DatastreamEndpoint> endpoint_;
  EndpointOptions options_;
  std::shared_ptr<std::latch> gone_;
  std::unique_ptr<SubscriberActors<DatastreamEndpoint>> subscribers_; // unless they have an actor
  caf::actor fanout_;                                                 // of their own
  std::optional<compat::TicketedDownWatch> fanout_watch_;
  bool publishing_ = false;           // the fanout actor has not answered yet
  std::uint64_t poll_generation_ = 0; // polls of older generations are void
  std::chrono::steady_clock::time_point last_frame_;
  std::chrono::steady_clock::time_point health_poll_{}; // when the idle timer for health is due
};

} // namespace datastream
