#include <datastream/pipe/delivery_fanout.hpp>

#include "fanout_state.hpp"

namespace datastream {

DeliveryFanout::DeliveryFanout(std::shared_ptr<Catalog> catalog)
    : state_(std::make_shared<State>(std::move(catalog))) {}

DeliveryFanout::~DeliveryFanout() {
  close();
}

const std::shared_ptr<Catalog>& DeliveryFanout::catalog() const noexcept {
  return state_->catalog;
}

DatastreamSubscription DeliveryFanout::subscribe(std::string name, SubscriptionRequest request,
                                                 SubscriberCapacity capacity) {
  return subscribe(prepare(std::move(name), std::move(request), capacity));
}

SubscriptionStart DeliveryFanout::attach(std::string name, SubscriptionRequest request,
                                         SubscriberCapacity capacity,
                                         std::unique_ptr<SubscriberSink> sink) {
  return attach(prepare(std::move(name), std::move(request), capacity), std::move(sink));
}

DeliveryFanout::Prepared DeliveryFanout::prepare(std::string name, SubscriptionRequest request,
                                                 SubscriberCapacity capacity) const {
  Prepared prepared;
  prepared.known_ = state_->catalog->snapshot(request);
  prepared.name_ = std::move(name);
  prepared.request_ = std::move(request);
  prepared.capacity_ = capacity;
  return prepared;
}

DatastreamSubscription DeliveryFanout::subscribe(Prepared prepared) {
  auto subscription = std::make_unique<DatastreamSubscription::State>();
  std::unique_ptr<SubscriberSink> none;
  const std::lock_guard lock(state_->mutex);
  subscription->fanout = state_;
  state_->add(prepared, none, subscription->subscriber, subscription->start);
  return DatastreamSubscription(std::move(subscription));
}

SubscriptionStart DeliveryFanout::attach(Prepared prepared, std::unique_ptr<SubscriberSink> sink) {
  SubscriptionStart start;
  State::Subscriber subscriber; // here, because it must not go with the lock held
  const std::lock_guard lock(state_->mutex);
  state_->add(prepared, sink, subscriber, start);
  return start;
}

bool DeliveryFanout::acknowledge(SubscriptionId id, std::uint64_t sequence) {
  const std::lock_guard lock(state_->mutex);
  const auto subscriber = state_->find(id);
  if (subscriber && subscriber->acknowledge(sequence))
    return true;
  ++state_->stray_acknowledgements;
  return false;
}

bool DeliveryFanout::unsubscribe(SubscriptionId id) {
  return state_->remove(id);
}

EndpointTick DeliveryFanout::publish(const FrameBatch& batch) {
  return publish(std::span(&batch, 1));
}

EndpointTick DeliveryFanout::publish(std::span<const FrameBatch> batches) {
  EndpointTick total;
  const std::lock_guard lock(state_->mutex);
  total.subscribers = state_->subscribers.size();
  for (const FrameBatch& batch : batches)
    total += state_->publish(batch);
  total.subscribers = state_->subscribers.size();
  return total;
}

void DeliveryFanout::end_stream(const StreamId& stream, std::uint64_t assigned) {
  const std::lock_guard lock(state_->mutex);
  State::Stream& ending = state_->stream_of(stream, Position{assigned});
  if (!ending.ended) {
    StreamEnd end{stream, assigned};
    std::list<StreamEnd> ends(state_->subscribers.size(), end);
    ending.next = std::max(ending.next, Position{assigned});
    ending.ended = std::move(end);
    for (const auto& subscriber : std::views::values(state_->subscribers))
      subscriber->end(ends);
  }
  for (const auto& subscriber : std::views::values(state_->subscribers))
    subscriber->tell_ends();
}

void DeliveryFanout::refresh() {
  const std::lock_guard lock(state_->mutex);
  for (const auto& subscriber : std::views::values(state_->subscribers))
    subscriber->refresh();
}

void DeliveryFanout::refresh(SubscriptionId id) {
  const std::lock_guard lock(state_->mutex);
  if (const auto subscriber = state_->find(id))
    subscriber->refresh();
}

void DeliveryFanout::expect_next(const StreamId& stream, Position next) {
  const std::lock_guard lock(state_->mutex);
  State::Stream& known = state_->stream_of(stream, next);
  known.next = std::max(known.next, next);
}

bool DeliveryFanout::forget(const StreamId& stream) {
  const std::lock_guard lock(state_->mutex);
  for (const auto& subscriber : std::views::values(state_->subscribers))
    subscriber->forget(stream);
  state_->last_stream = nullptr;
  const bool was_here = state_->streams.erase(stream) != 0;
  return state_->catalog->forget(stream) || was_here;
}

void DeliveryFanout::close() {
  const std::lock_guard lock(state_->mutex);
  state_->closed = true;
  for (const auto& subscriber : std::views::values(state_->subscribers))
    subscriber->close();
}

std::size_t DeliveryFanout::subscriber_count() const {
  const std::lock_guard lock(state_->mutex);
  return state_->subscribers.size();
}

bool DeliveryFanout::settled() const {
  const std::lock_guard lock(state_->mutex);
  // Who was told last acknowledges last, as a rule: asked after each acknowledgement, this looks at
  // one subscriber and not at all that have settled.
  return std::ranges::all_of(std::views::values(state_->subscribers) | std::views::reverse,
                             [](const auto& s) { return s->settled(); });
}

FanoutLedger DeliveryFanout::ledger() const {
  const std::lock_guard lock(state_->mutex);
  FanoutLedger ledger;
  for (const auto& subscriber : std::views::values(state_->subscribers))
    ledger.subscribers.push_back(subscriber->ledger());
  ledger.departed = state_->departed;
  ledger.stray_acknowledgements = state_->stray_acknowledgements;
  ledger.frames_after_end = state_->frames_after_end;
  return ledger;
}

} // namespace datastream
