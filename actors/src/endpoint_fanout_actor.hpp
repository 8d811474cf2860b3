#pragma once
/// The fanout of an endpoint as an actor of its own.

#include "subscriber_actors.hpp"

#include <datastream/pipe/endpoint.hpp>

#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>

#include <latch>
#include <memory>

namespace datastream {

/// Publishes what its `EndpointActor` has drained, and serves the subscribers, whose messages the
/// endpoint passes on. While the endpoint actor lives, only this one publishes, so no delivery
/// overtakes the reply to a subscription. However it ends, it ends the stream first.
class EndpointFanoutActor : public caf::event_based_actor {
public:
  EndpointFanoutActor(caf::actor_config& config, std::shared_ptr<DatastreamEndpoint> endpoint,
                      std::shared_ptr<std::latch> gone);

  const char* name() const override { return "datastream.fanout"; }
  caf::behavior make_behavior() override;
  void on_exit() override; // may run twice: see `compat::exit_before_watchers`

private:
  std::shared_ptr<DatastreamEndpoint> endpoint_;
  SubscriberActors<DatastreamEndpoint> subscribers_;
};

} // namespace datastream
