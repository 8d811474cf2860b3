#include <datastream/actors/endpoint.hpp>

#include <datastream/actors/endpoint_actor.hpp>
#include <datastream/actors/settings.hpp>
#include <datastream/caf/render.hpp>
#include <datastream/caf/send.hpp>
#include <datastream/caf/thread_logger.hpp>
#include <datastream/log_sink.hpp>

#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <latch>
#include <mutex>
#include <optional>

namespace datastream {
namespace {

/// CAF counts the milliseconds of a timeout in 32 bits.
constexpr std::chrono::milliseconds longest_deadline = std::chrono::days(30);

} // namespace

struct Endpoint::State {
  caf::actor handle() const {
    const std::lock_guard lock(actor_mutex);
    return actor;
  }

  caf::actor_system& system;
  EndpointOptions options;
  std::shared_ptr<DatastreamEndpoint> pipe;
  mutable std::mutex actor_mutex{}; // guards the handle
  caf::actor actor{};               // null once closed: an actor system waits for such handles
  std::shared_ptr<std::latch> gone = std::make_shared<std::latch>(EndpointActor::actors(options));
  std::mutex closing{};          // whoever closes second waits for the first; guards `settled`
  std::optional<bool> settled{}; // set once closed; the actor system may be gone by then
};

Endpoint::Endpoint(caf::actor_system& system, EndpointOptions options) {
  if (auto read = configured(options, system.config()))
    options = *std::move(read);
  else
    log_message(LogSeverity::error, compat::render(system, read.error()) +
                                        ": the configuration is not used for this endpoint");
  StreamDescriptor descriptor{
      {options.node, options.life ? *options.life : fresh_life()}, options.label, options.origin};
  PipeOptions pipe_options{.mux = options.mux, .health_interval = options.health_interval};
  auto pipe = std::make_shared<DatastreamEndpoint>(std::move(descriptor), pipe_options);
  state_ = std::make_unique<State>(system, std::move(options), std::move(pipe));
  const compat::ThreadLogger thread(system);
  state_->actor =
      system.spawn<EndpointActor, caf::detached>(state_->pipe, state_->options, state_->gone);
}

Endpoint::Endpoint(Endpoint&&) noexcept = default;

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
  return EndpointRef(state_->handle());
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
  if (state_->pipe->ended())
    return;
  // The actor does it, so that no delivery overtakes the reply to a subscription that is beginning.
  const compat::ThreadLogger thread(state_->system);
  caf::scoped_actor self{state_->system};
  compat::request(self.ptr(), state_->handle(), caf::infinite, end_atom_v)
      .receive([](const PipeLedger&) {},
               [](const caf::error&) { /* it is gone, and ended the stream on its way out */ });
}

bool Endpoint::close() {
  return close(state_->options.close_deadline);
}

bool Endpoint::close(std::chrono::milliseconds deadline) {
  const std::lock_guard lock(state_->closing);
  if (state_->settled)
    return *state_->settled;
  bool settled = false;
  const caf::actor actor = state_->handle();
  const compat::ThreadLogger thread(state_->system);
  caf::scoped_actor self{state_->system};
  compat::request(self.ptr(), actor,
                  std::clamp(deadline, std::chrono::milliseconds(0), longest_deadline),
                  settle_atom_v)
      .receive([&](bool all) { settled = all; },
               [](const caf::error&) { /* the deadline, or the actor is gone already */ });
  caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  state_->gone->wait();
  const std::lock_guard actor_lock(state_->actor_mutex);
  state_->actor = nullptr;
  state_->settled = settled;
  return settled;
}

} // namespace datastream
