#pragma once
/// The owner of a stream (specification 4.1).

#include <datastream/model/descriptor.hpp>
#include <datastream/model/ledger.hpp>
#include <datastream/pipe/delivery_fanout.hpp>
#include <datastream/pipe/mux.hpp>
#include <datastream/pipe/producer.hpp>
#include <datastream/pipe/subscription.hpp>

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace datastream {

struct PipeOptions {
  MuxOptions mux{};
  /// Time between health records that `tick` submits by itself, at most 30 days; zero: only on
  /// request.
  std::chrono::milliseconds health_interval{0};
};

/// One stream's mux, catalog and fanout. It has no thread and no clock of its own: somebody calls
/// `tick`. On CAF that is `EndpointActor` (`datastream/actors.hpp`); elsewhere, a loop of yours.
///
/// Thread safety: every function may be called from any thread. Ticks, direct drains, subscribing
/// and ledgers exclude one another; producers wait for none of them.
/// Lock order: tick, then fanout, then subscriber, then catalog.
/// Errors: a lack of memory never ends the stream. `tick`, `drain`, `publish_drained`,
/// `submit_health`, `end_stream` and what is `noexcept` do not throw: what finds no memory is still
/// queued, still due, or counted. The others throw `std::bad_alloc`, and then have done nothing.
class DatastreamEndpoint {
public:
  explicit DatastreamEndpoint(StreamDescriptor stream, PipeOptions options = {});
  explicit DatastreamEndpoint(StreamId stream, PipeOptions options = {});
  /// Refuses later submissions, and disconnects subscriptions once they are empty. Does not drain:
  /// `end_stream` does.
  ~DatastreamEndpoint();
  DatastreamEndpoint(const DatastreamEndpoint&) = delete;
  DatastreamEndpoint& operator=(const DatastreamEndpoint&) = delete;

  const StreamId& stream_id() const noexcept;
  DatastreamProducer producer() const;
  /// Read only: channels are registered here or on producers, so that subscribers learn of them.
  std::shared_ptr<const Catalog> catalog() const noexcept;

  /// As on `DatastreamProducer`.
  ChannelId register_channel(std::string name, ChannelContent content);
  std::expected<ChannelId, CatalogError> try_register_channel(std::string name,
                                                              ChannelContent content);
  template <class R>
  ChannelId register_record() {
    return producer().template register_record<R>();
  }

  /// Subscribes to everything that is drained from now on.
  DatastreamSubscription subscribe(std::string name,
                                   SubscriptionRequest request = SubscriptionRequest::all(),
                                   SubscriberCapacity capacity = {});
  /// The same for a sink; see `DeliveryFanout::attach`.
  SubscriptionStart attach(std::string name, SubscriptionRequest request,
                           SubscriberCapacity capacity, std::unique_ptr<SubscriberSink> sink);
  bool acknowledge(SubscriptionId id, std::uint64_t sequence);
  bool unsubscribe(SubscriptionId id);
  /// See `DeliveryFanout::settled`.
  bool settled() const;
  /// See `DeliveryFanout::refresh`; a tick does it for all when the catalog has grown, and for who
  /// came after the end.
  void refresh(SubscriptionId id);

  /// Drains what is queued, once, and offers it to every subscriber; without subscribers it is
  /// bitbucketed. Subscribers are told what they lack of the catalog, also when nothing is queued.
  EndpointTick tick();
  /// The two halves of `tick`, for a drainer that leaves publishing to another thread. `drain`
  /// gives what is queued its positions and keeps it; returns whether `publish_drained` has
  /// something to do.
  bool drain();
  /// Offers what `drain` has kept, as `tick` does.
  EndpointTick publish_drained();
  /// Drains what is queued past the fanout, appending it to `batches`. Returns the frames. What
  /// `drain` has kept is published first, for its positions are lower. Throws `std::bad_alloc` when
  /// it could take nothing.
  std::size_t drain_directly(std::vector<FrameBatch>& batches);

  /// Submits a health record of this moment on `datastream.health`. False: refused and counted,
  /// also when there is no memory to make it.
  bool submit_health();
  /// Between those that `tick` submits by itself; zero: none.
  std::chrono::milliseconds health_interval() const noexcept;

  /// Ends the stream: refuses submissions and registrations from now on, waits for submissions
  /// that are under way, drains and publishes what was accepted, then publishes `StreamEnded`,
  /// once, also to later subscribers. Idempotent. Subscriptions are disconnected once empty. While
  /// there is no memory for it, it tries again every `defaults::end_retry`, holding no lock
  /// between.
  void end_stream();
  bool ended() const noexcept;

  /// The whole ledger, in one cut.
  PipeLedger ledger() const;

  /// See `Mux::set_waker`. A new channel wakes too.
  void set_waker(std::function<void()> waker);
  /// See `Mux::try_idle`.
  bool try_idle() noexcept;

private:
  void submit_health_when_due();
  bool try_end_stream();
  void drain_locked();
  EndpointTick publish_locked();

  struct State;
  std::unique_ptr<State> state_;
};

} // namespace datastream
