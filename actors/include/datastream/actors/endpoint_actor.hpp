#pragma once
/// The actor that drains one endpoint and serves its subscriber actors.

#include <datastream/actors/endpoint_options.hpp>
#include <datastream/actors/type_ids.hpp>
#include <datastream/caf/monitors.hpp>
#include <datastream/pipe/endpoint.hpp>

#include <caf/actor.hpp>
#include <caf/actor_addr.hpp>
#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/result.hpp>
#include <caf/typed_response_promise.hpp>

#include <chrono>
#include <cstdint>
#include <latch>
#include <map>
#include <memory>
#include <vector>

namespace datastream {

/// Drains its endpoint every `tick_interval` while frames come, falls idle after
/// `defaults::idle_after` of silence, and is woken by the next submission. Sends subscribers their
/// deliveries and counts what they acknowledge. `Endpoint` spawns it, detached: on a thread of its
/// own it keeps draining while the program blocks all of CAF's workers.
///
/// However it ends, it ends the stream first: the mux is closed, drained and published.
class EndpointActor : public caf::event_based_actor {
public:
  /// Counts `gone` down when it has ended, and everybody who watches it has been sent word: a
  /// middleman that stops before it has handled such a word keeps the actor, and with it the actor
  /// system, for ever.
  EndpointActor(caf::actor_config& config, std::shared_ptr<DatastreamEndpoint> endpoint,
                EndpointOptions options, std::shared_ptr<std::latch> gone);

  const char* name() const override { return "datastream.endpoint"; }
  caf::behavior make_behavior() override;
  void on_exit() override; // may run twice: see `compat::exit_before_watchers`

private:
  /// Of a subscriber actor.
  struct Subscriptions {
    Subscriptions(const caf::actor& subscriber, const caf::actor& self)
        : watch(subscriber, self, down_atom_v, subscriber.address()) {}

    compat::DownWatch watch;
    std::vector<SubscriptionId> ids{};
  };
  using Subscribers = std::map<caf::actor_addr, Subscriptions>;

  caf::result<SubscriptionStart> subscribe(const Subscribe& request, const caf::actor& subscriber);
  bool unsubscribe(SubscriptionId id);
  void acknowledge(SubscriptionId id, std::uint64_t sequence);
  Subscribers::iterator owner_of(SubscriptionId id);
  void remove(Subscribers::iterator it);
  void subscriber_down(const caf::actor_addr& subscriber);
  bool manual() const noexcept;
  void poll();
  void poll_after(std::chrono::microseconds delay);
  void answer_if_settled();

  std::shared_ptr<DatastreamEndpoint> endpoint_;
  EndpointOptions options_;
  Subscribers subscribers_;
  std::uint64_t poll_generation_ = 0; // polls of older generations are void
  std::chrono::steady_clock::time_point last_frame_;
  std::chrono::steady_clock::time_point health_poll_{};     // when the idle timer for health is due
  std::vector<caf::typed_response_promise<bool>> settling_; // wait until all is acknowledged
};

} // namespace datastream
