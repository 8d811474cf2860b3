#include "endpoint_fanout_actor.hpp"

#include <datastream/actors/detail/peer_errors.hpp>

namespace datastream {

EndpointFanoutActor::EndpointFanoutActor(caf::actor_config& config,
                                         std::shared_ptr<DatastreamEndpoint> endpoint,
                                         std::shared_ptr<std::latch> gone)
    : caf::event_based_actor(config), endpoint_(std::move(endpoint)),
      subscribers_(this, endpoint_) {
  attach_functor([gone = std::move(gone)] { gone->count_down(); });
}

caf::behavior EndpointFanoutActor::make_behavior() {
  return subscribers_.handlers().or_else(
      [this](publish_atom) { return endpoint_->publish_drained(); },
      [this](end_atom) {
        endpoint_->end_stream();
        return endpoint_->ledger();
      },
      [this](settle_atom) {
        endpoint_->end_stream();
        return subscribers_.settle();
      },
      peer_errors(this), compat::exit_before_watchers(this));
}

void EndpointFanoutActor::on_exit() {
  endpoint_->end_stream();
  subscribers_.clear();
}

} // namespace datastream
