#include <datastream/actors/thread_subscription.hpp>

#include <datastream/actors/detail/peer_errors.hpp>
#include <datastream/actors/subscriber.hpp>
#include <datastream/caf/handlers.hpp>
#include <datastream/caf/send.hpp>
#include <datastream/caf/thread_logger.hpp>

#include <caf/behavior.hpp>
#include <caf/blocking_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/system_messages.hpp>

#include <chrono>
#include <optional>
#include <utility>

namespace datastream {

namespace {

/// What can be added to any clock.
constexpr std::chrono::nanoseconds longest_wait = std::chrono::hours(24 * 365 * 100);

} // namespace

struct ThreadSubscription::State {
  explicit State(caf::actor_system& system)
      : self(system), in(self.ptr()),
        handlers(in.handlers(
            [](wake_atom) { /* the stop token was triggered */ },
            [this](const caf::exit_msg& exit) { disconnect(exit.reason); },
            [this](const caf::error& error) { peer_errors.note(*self.ptr(), error); })) {}

  void disconnect(const caf::error& why) {
    disconnected = true;
    reason = why;
  }

  using Deadline = std::optional<std::chrono::steady_clock::time_point>;

  std::expected<EventBatch, RecvError> take(const std::stop_token& stop, Deadline deadline) {
    if (!next && !disconnected && stop.stop_requested()) // no word to itself that nobody takes
      return std::unexpected(RecvError::stopped);
    const std::stop_callback wake(stop,
                                  [to = caf::actor(self)] { compat::anon_send(to, wake_atom_v); });
    while (!next) {
      if (disconnected)
        return std::unexpected(RecvError::disconnected);
      if (stop.stop_requested())
        return std::unexpected(RecvError::stopped);
      if (!receive(deadline))
        return std::unexpected(RecvError::timeout);
    }
    return *std::exchange(next, std::nullopt);
  }

  /// Handles one message. Returns false when none came in time.
  bool receive(Deadline deadline) {
    if (!deadline) {
      handlers.receive(self.ptr());
      return true;
    }
    using Clock = caf::blocking_actor::timeout_type::clock;
    const auto left = [&] { return *deadline - std::chrono::steady_clock::now(); };
    return self->await_data(Clock::now() + left()) &&
           (handlers.receive_now(self.ptr()) || left() > left().zero());
  }

  caf::scoped_actor self;
  Subscriber in;
  compat::BlockingHandlers handlers;
  SubscriptionStart start{};
  std::optional<EventBatch> next{};
  bool disconnected = false;
  caf::error reason{};
  PeerErrorLog peer_errors{};
};

std::expected<ThreadSubscription, caf::error> ThreadSubscription::open(caf::actor_system& system,
                                                                       const EndpointRef& endpoint,
                                                                       Subscribe request) {
  const compat::ThreadLogger thread(system);
  auto state = std::make_unique<State>(system);
  SubscriptionHandlers handlers;
  handlers.on_batch = [at = state.get()](const EventBatch& batch) { at->next = batch; };
  handlers.on_start = [at = state.get()](const SubscriptionStart& start) { at->start = start; };
  handlers.on_down = [at = state.get()](const caf::error& reason) { at->disconnect(reason); };
  state->in.subscribe(endpoint, std::move(handlers), std::move(request));
  if (state->disconnected)
    return std::unexpected(state->reason);
  return ThreadSubscription(std::move(state));
}

ThreadSubscription::ThreadSubscription(std::unique_ptr<State> state) noexcept
    : state_(std::move(state)) {}

ThreadSubscription::ThreadSubscription(ThreadSubscription&&) noexcept = default;

ThreadSubscription& ThreadSubscription::operator=(ThreadSubscription&&) noexcept = default;

ThreadSubscription::~ThreadSubscription() = default;

const SubscriptionStart& ThreadSubscription::start() const noexcept {
  return state_->start;
}

std::expected<EventBatch, RecvError> ThreadSubscription::try_recv() {
  auto taken = state_->take({}, std::chrono::steady_clock::time_point{});
  if (!taken && taken.error() == RecvError::timeout)
    return std::unexpected(RecvError::empty);
  return taken;
}

std::expected<EventBatch, RecvError> ThreadSubscription::recv(const std::stop_token& stop) {
  return state_->take(stop, std::nullopt);
}

std::expected<EventBatch, RecvError> ThreadSubscription::recv_for(std::chrono::nanoseconds timeout,
                                                                  const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  if (timeout > longest_wait)
    return recv(stop);
  return state_->take(stop, Clock::now() + timeout);
}

bool ThreadSubscription::forget(const StreamId& stream) {
  return state_->in.forget(stream);
}

const caf::error& ThreadSubscription::reason() const noexcept {
  return state_->reason;
}

} // namespace datastream
