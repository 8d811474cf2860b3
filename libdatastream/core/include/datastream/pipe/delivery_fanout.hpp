#pragma once
/// Drain once, publish to every subscriber (specification 6.2).

#include <datastream/model/frame_batch.hpp>
#include <datastream/model/ledger.hpp>
#include <datastream/model/subscription_request.hpp>
#include <datastream/pipe/catalog.hpp>
#include <datastream/pipe/event_batch.hpp>
#include <datastream/pipe/subscription.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace datastream {

/// What one tick or publication did, in frames. `delivered + dropped_for_subscribers =
/// drained * subscribers`, always; declarations and ends are in none of them.
struct EndpointTick {
  std::size_t drained = 0;
  std::size_t delivered = 0; ///< accepted by subscribers' queues
  std::size_t dropped_for_subscribers = 0;
  std::size_t subscribers = 0;

  EndpointTick& operator+=(const EndpointTick& other) {
    drained += other.drained;
    delivered += other.delivered;
    dropped_for_subscribers += other.dropped_for_subscribers;
    subscribers = other.subscribers;
    return *this;
  }
  friend bool operator==(const EndpointTick&, const EndpointTick&) = default;
};

/// Where deliveries go that are pushed instead of pulled.
class SubscriberSink {
public:
  virtual ~SubscriberSink() = default; ///< runs outside the fanout's locks
  /// Passes a delivery on. Called with locks of the fanout held, one call at a time: must not
  /// block, must not call the fanout. May throw `std::bad_alloc`, and then has passed on nothing:
  /// the frames are dropped and counted, everything else is told later.
  virtual void deliver(EventBatch batch) = 0;
};

/// Offers every event to every subscriber, bounds what waits for each, and counts.
///
/// It broadcasts: a request shapes a subscriber's snapshot only. What fits of a batch is delivered
/// as a slice; the rest is dropped for that subscriber alone and counted. What a subscriber has not
/// been told of the catalog it is told with, and before, the next thing that it receives; that
/// takes no room in its queue, so declarations are never lost or repeated.
///
/// Pulled subscriptions (`subscribe`) count a frame as acknowledged when it is taken; pushed ones
/// (`attach`) when `acknowledge` names its delivery or a later one.
///
/// Thread safety: every function may be called from any thread. Concurrent publications are
/// serialised. Lock order: fanout, then subscriber, then catalog.
class DeliveryFanout {
public:
  /// A subscriber of this fanout that is not there yet.
  class Prepared {
  public:
    /// Of the catalog, as it will be told.
    std::size_t catalog_version() const noexcept { return known_.version; }

  private:
    friend class DeliveryFanout;
    Prepared() = default;
    std::string name_;
    SubscriptionRequest request_;
    SubscriberCapacity capacity_;
    Catalog::Versioned known_;
  };

  explicit DeliveryFanout(std::shared_ptr<Catalog> catalog = std::make_shared<Catalog>());
  /// Closes it.
  ~DeliveryFanout();
  DeliveryFanout(const DeliveryFanout&) = delete;
  DeliveryFanout& operator=(const DeliveryFanout&) = delete;

  const std::shared_ptr<Catalog>& catalog() const noexcept;

  DatastreamSubscription subscribe(std::string name,
                                   SubscriptionRequest request = SubscriptionRequest::all(),
                                   SubscriberCapacity capacity = {});

  /// Subscribes a sink. This delivers nothing; the first publication after it does, also one that
  /// another thread begins before the caller has seen the result. The ends of streams that have
  /// ended, and what others declare meanwhile, follow at the next `refresh`, or ahead of the next
  /// publication. Of the ends so many at a time as the subscriber acknowledges.
  SubscriptionStart attach(std::string name, SubscriptionRequest request,
                           SubscriberCapacity capacity, std::unique_ptr<SubscriberSink> sink);

  /// The same in two steps, for who subscribes under a lock of its own: what takes long, reading
  /// the catalog, is done before. What is declared between the two is told as everything later is.
  Prepared prepare(std::string name, SubscriptionRequest request,
                   SubscriberCapacity capacity) const;
  DatastreamSubscription subscribe(Prepared prepared);
  SubscriptionStart attach(Prepared prepared, std::unique_ptr<SubscriberSink> sink);

  /// Everything up to delivery `sequence` has been received. Cumulative and idempotent; one from
  /// a stranger, backwards, or beyond what was sent is ignored and counted. Returns whether it
  /// was taken.
  bool acknowledge(SubscriptionId id, std::uint64_t sequence);
  /// Removes a subscriber; what it had not acknowledged is abandoned. Returns whether it was there.
  bool unsubscribe(SubscriptionId id);

  /// Offers a batch, whose stream is declared on the way if need be. Frames of a stream that has
  /// ended are refused and counted (`FanoutLedger::frames_after_end`).
  /// Throws `std::bad_alloc` at the first batch of a stream only, and then has not offered it.
  EndpointTick publish(const FrameBatch& batch);
  EndpointTick publish(std::span<const FrameBatch> batches);
  /// Publishes the end of a stream, once, declaring it on the way if need be. `assigned`: its
  /// final number of positions. Pushed subscribers are told of ends as fast as they acknowledge.
  /// After a `std::bad_alloc`, call it again: it tells those whom it has not told.
  void end_stream(const StreamId& stream, std::uint64_t assigned);
  /// Sends pushed subscribers what they lack of the catalog, and wakes pulling ones.
  void refresh();
  /// The same for one subscriber, however many there are.
  void refresh(SubscriptionId id);
  /// Says which position of a stream comes next, where its first frames were missed or frames
  /// bypass this fanout.
  void expect_next(const StreamId& stream, Position next);
  /// Forgets a stream, here and in the catalog: how a program that passes on ever new lives bounds
  /// what it keeps of them. What subscribers have in their queues stays, and so do all counts. What
  /// was only due to them of it, its declarations, start and end, is told no more: so forget a
  /// stream some time after it has ended. If a frame of it comes later, it begins anew there, as
  /// one that was never known. Returns whether it was known.
  bool forget(const StreamId& stream);

  /// No more events: what is queued can be taken, then subscriptions are disconnected.
  void close();

  std::size_t subscriber_count() const;
  /// Whether every pushed subscriber has acknowledged everything that is due to it, declarations
  /// and ends included.
  bool settled() const;
  FanoutLedger ledger() const;

private:
  struct State;
  friend class DatastreamSubscription;
  std::shared_ptr<State> state_;
};

} // namespace datastream
