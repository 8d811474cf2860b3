#pragma once
/// What a fanout shares with its subscriptions, which may outlive it.

#include "fanout_subscriber.hpp"

#include <datastream/pipe/delivery_fanout.hpp>

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <string>
#include <utility>

namespace datastream {

struct DeliveryFanout::State {
  struct Stream {
    Position next;
    std::optional<StreamEnd> ended;
  };
  using Subscribers = std::map<SubscriptionId, std::shared_ptr<FanoutSubscriber>>;

  explicit State(std::shared_ptr<Catalog> shared_catalog) : catalog(std::move(shared_catalog)) {}

  using Subscriber = std::shared_ptr<FanoutSubscriber>;

  /// Creates a subscriber and everything that it is told first. The lock must be held. When it
  /// throws, `sink` or `subscriber` are there still, for who has them outside of the lock.
  void add(Prepared& prepared, std::unique_ptr<SubscriberSink>& sink, Subscriber& subscriber,
           SubscriptionStart& start) {
    start.id = SubscriptionId{++last_id};
    start.snapshot = std::move(prepared.known_.snapshot);
    subscriber = std::make_shared<FanoutSubscriber>(
        start.id, std::move(prepared.name_), std::move(prepared.request_), prepared.capacity_,
        catalog, prepared.known_.version, sink);
    for (const auto& [id, stream] : streams) {
      start.starts.push_back({id, stream.next});
      if (stream.ended)
        subscriber->end_before_start(*stream.ended);
    }
    if (closed)
      subscriber->close();
    subscribers.emplace(start.id, subscriber);
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
  /// has. Throws `std::bad_alloc`, and then no subscriber was told. The lock must be held.
  Stream& stream_of(const StreamId& id, Position first) {
    if (last_stream && last_stream->first == id)
      return last_stream->second;
    auto it = streams.find(id);
    if (it == streams.end()) {
      catalog->declare_stream({id, std::nullopt, StreamOrigin::RemoteNode});
      std::list<StreamStart> starts(subscribers.size(), StreamStart{id, first});
      it = streams.emplace(id, Stream{first, std::nullopt}).first;
      for (const auto& subscriber : std::views::values(subscribers))
        subscriber->begin(starts);
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

} // namespace datastream
