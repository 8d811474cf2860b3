#include <datastream/pipe/delivery_fanout.hpp>

#include "fanout_subscriber.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <vector>

namespace datastream {

struct DeliveryFanout::State {
  struct Stream {
    Position next;
    std::optional<StreamEnd> ended;
  };
  using Subscribers = std::map<SubscriptionId, std::shared_ptr<FanoutSubscriber>>;

  explicit State(std::shared_ptr<Catalog> shared_catalog) : catalog(std::move(shared_catalog)) {}

  /// Creates a subscriber and everything that it is told first. The lock must be held.
  std::shared_ptr<FanoutSubscriber> add(std::string name, SubscriptionRequest request,
                                        SubscriberCapacity capacity,
                                        std::unique_ptr<SubscriberSink> sink,
                                        SubscriptionStart& start) {
    auto known = catalog->snapshot(request);
    start.id = SubscriptionId{++last_id};
    start.snapshot = std::move(known.snapshot);
    auto subscriber =
        std::make_shared<FanoutSubscriber>(start.id, std::move(name), std::move(request), capacity,
                                           catalog, known.version, std::move(sink));
    for (const auto& [id, stream] : streams) {
      start.starts.push_back({id, stream.next});
      if (stream.ended)
        subscriber->end_before_start(*stream.ended);
    }
    if (closed)
      subscriber->close();
    subscribers.emplace(start.id, subscriber);
    return subscriber;
  }

  /// The lock must be held. Null when the subscriber is not there.
  std::shared_ptr<FanoutSubscriber> find(SubscriptionId id) const {
    const auto it = subscribers.find(id);
    return it == subscribers.end() ? nullptr : it->second;
  }

  bool remove(SubscriptionId id) {
    Subscribers::node_type gone; // destroyed after the lock is released
    const std::lock_guard lock(mutex);
    gone = subscribers.extract(id);
    if (!gone)
      return false;
    departed += gone.mapped()->leave();
    return true;
  }

  /// The stream's state. A stream that was not known begins at `first`, and is declared if nobody
  /// has. The lock must be held.
  Stream& stream_of(const StreamId& id, Position first) {
    if (last_stream && last_stream->first == id)
      return last_stream->second;
    auto it = streams.find(id);
    if (it == streams.end()) {
      catalog->declare_stream({id, std::nullopt, StreamOrigin::RemoteNode});
      it = streams.emplace(id, Stream{first, std::nullopt}).first;
      for (const auto& subscriber : std::views::values(subscribers))
        subscriber->begin({id, first});
    }
    last_stream = &*it;
    return it->second;
  }

  EndpointTick publish(const FrameBatch& batch) {
    if (batch.empty())
      return {};
    Stream& stream = stream_of(batch.stream(), batch.front().position);
    if (stream.ended) {
      frames_after_end += batch.size();
      return {};
    }
    stream.next = std::max(stream.next, Position{batch.back().position.value + 1});
    EndpointTick tick{.drained = batch.size(), .subscribers = subscribers.size()};
    for (const auto& subscriber : std::views::values(subscribers))
      tick.delivered += subscriber->offer(batch);
    tick.dropped_for_subscribers = tick.drained * tick.subscribers - tick.delivered;
    return tick;
  }

  const std::shared_ptr<Catalog> catalog;
  mutable std::mutex mutex;
  Subscribers subscribers;
  std::map<StreamId, Stream> streams;
  std::pair<const StreamId, Stream>* last_stream = nullptr;
  SubscriberCounts departed;
  std::uint64_t last_id = 0;
  std::uint64_t stray_acknowledgements = 0;
  std::uint64_t frames_after_end = 0;
  bool closed = false;
};

struct DatastreamSubscription::State {
  std::shared_ptr<DeliveryFanout::State> fanout;
  std::shared_ptr<FanoutSubscriber> subscriber;
  SubscriptionStart start;
};

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
  auto subscription = std::make_unique<DatastreamSubscription::State>();
  const std::lock_guard lock(state_->mutex);
  subscription->fanout = state_;
  subscription->subscriber =
      state_->add(std::move(name), std::move(request), capacity, nullptr, subscription->start);
  return DatastreamSubscription(std::move(subscription));
}

SubscriptionStart DeliveryFanout::attach(std::string name, SubscriptionRequest request,
                                         SubscriberCapacity capacity,
                                         std::unique_ptr<SubscriberSink> sink) {
  SubscriptionStart start;
  const std::lock_guard lock(state_->mutex);
  state_->add(std::move(name), std::move(request), capacity, std::move(sink), start);
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
  if (ending.ended)
    return;
  ending.next = std::max(ending.next, Position{assigned});
  ending.ended = StreamEnd{stream, assigned};
  for (const auto& subscriber : std::views::values(state_->subscribers))
    subscriber->end(*ending.ended);
}

void DeliveryFanout::refresh() {
  const std::lock_guard lock(state_->mutex);
  for (const auto& subscriber : std::views::values(state_->subscribers))
    subscriber->refresh();
}

void DeliveryFanout::expect_next(const StreamId& stream, Position next) {
  const std::lock_guard lock(state_->mutex);
  State::Stream& known = state_->stream_of(stream, next);
  known.next = std::max(known.next, next);
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
  return std::ranges::all_of(std::views::values(state_->subscribers),
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
