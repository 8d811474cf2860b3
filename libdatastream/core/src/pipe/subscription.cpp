#include <datastream/pipe/subscription.hpp>

#include "fanout_state.hpp"

namespace datastream {

std::string_view to_string(RecvError error) {
  switch (error) {
  case RecvError::empty:
    return "empty";
  case RecvError::timeout:
    return "timeout";
  case RecvError::stopped:
    return "stopped";
  case RecvError::disconnected:
    return "disconnected";
  }
  return "unknown";
}

DatastreamSubscription::DatastreamSubscription(std::unique_ptr<State> state) noexcept
    : state_(std::move(state)) {}

DatastreamSubscription::DatastreamSubscription(DatastreamSubscription&&) noexcept = default;

DatastreamSubscription& DatastreamSubscription::operator=(DatastreamSubscription&& other) noexcept {
  if (this != &other) {
    if (state_)
      unsubscribe();
    state_ = std::move(other.state_);
  }
  return *this;
}

DatastreamSubscription::~DatastreamSubscription() {
  if (state_)
    unsubscribe();
}

SubscriptionId DatastreamSubscription::id() const noexcept {
  return state_->start.id;
}

const std::string& DatastreamSubscription::name() const noexcept {
  return state_->subscriber->name();
}

const SubscriptionRequest& DatastreamSubscription::request() const noexcept {
  return state_->subscriber->request();
}

const DatastreamSnapshot& DatastreamSubscription::snapshot() const noexcept {
  return state_->start.snapshot;
}

const std::vector<StreamStart>& DatastreamSubscription::starts() const noexcept {
  return state_->start.starts;
}

std::expected<EventBatch, RecvError> DatastreamSubscription::try_recv() {
  return state_->subscriber->try_recv();
}

std::expected<EventBatch, RecvError> DatastreamSubscription::recv(const std::stop_token& stop) {
  return state_->subscriber->recv(stop);
}

std::expected<EventBatch, RecvError>
DatastreamSubscription::recv_for(std::chrono::nanoseconds timeout, const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  const auto now = Clock::now();
  const bool for_ever = timeout > Clock::time_point::max() - now;
  return state_->subscriber->recv_until(for_ever ? Clock::time_point::max() : now + timeout, stop);
}

std::vector<EventBatch> DatastreamSubscription::drain_available() {
  std::vector<EventBatch> events;
  while (auto event = try_recv())
    events.push_back(*std::move(event));
  return events;
}

void DatastreamSubscription::unsubscribe() {
  state_->fanout->remove(state_->start.id);
}

SubscriberCounts DatastreamSubscription::counts() const {
  return state_->subscriber->counts();
}

} // namespace datastream
