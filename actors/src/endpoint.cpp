#include <datastream/actors/endpoint.hpp>

#include <datastream/actors/endpoint_actor.hpp>
#include <datastream/caf/send.hpp>

#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

namespace datastream {

struct Endpoint::State {
  caf::actor_system& system;
  EndpointOptions options;
  std::shared_ptr<DatastreamEndpoint> pipe;
  caf::actor actor;
};

Endpoint::Endpoint(caf::actor_system& system, EndpointOptions options) {
  StreamDescriptor descriptor{
      {options.node, options.life ? *options.life : fresh_life()}, options.label, options.origin};
  PipeOptions pipe_options{.mux = options.mux, .health_interval = options.health_interval};
  auto pipe = std::make_shared<DatastreamEndpoint>(std::move(descriptor), pipe_options);
  auto actor = system.spawn<EndpointActor, caf::detached>(pipe, options);
  state_ = std::make_unique<State>(system, std::move(options), std::move(pipe), std::move(actor));
}

Endpoint& Endpoint::operator=(Endpoint&& other) noexcept {
  if (this != &other) {
    if (state_)
      close();
    state_ = std::move(other.state_);
  }
  return *this;
}

Endpoint::~Endpoint() {
  if (state_)
    close();
}

const StreamId& Endpoint::stream_id() const noexcept {
  return state_->pipe->stream_id();
}

DatastreamProducer Endpoint::producer() const {
  return state_->pipe->producer();
}

EndpointRef Endpoint::ref() const {
  return EndpointRef(state_->actor);
}

DatastreamSubscription Endpoint::subscribe(std::string name, SubscriptionRequest request,
                                           SubscriberCapacity capacity) {
  return state_->pipe->subscribe(std::move(name), std::move(request), capacity);
}

bool Endpoint::submit_health() {
  return state_->pipe->submit_health();
}

PipeLedger Endpoint::ledger() const {
  return state_->pipe->ledger();
}

void Endpoint::end_stream() {
  state_->pipe->end_stream();
}

bool Endpoint::close() {
  return close(state_->options.close_deadline);
}

bool Endpoint::close(std::chrono::milliseconds deadline) {
  state_->pipe->end_stream();
  bool settled = false;
  caf::scoped_actor self{state_->system};
  compat::request(self.ptr(), state_->actor, deadline, settle_atom_v)
      .receive([&](bool) { settled = true; },
               [](const caf::error&) { /* the deadline, or the actor is gone already */ });
  caf::anon_send_exit(state_->actor, caf::exit_reason::user_shutdown);
  self->wait_for(state_->actor);
  return settled;
}

} // namespace datastream
