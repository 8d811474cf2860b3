#pragma once
/// One subscriber of a fanout: its bounds, its counts, and what waits for it.

#include <datastream/pipe/delivery_fanout.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

namespace datastream {

/// The policy of one subscription, for both kinds: pulled ones keep their frames here until they
/// are taken; pushed ones pass them to a sink and keep only what an acknowledgement will release.
///
/// Thread safety: every function may be called from any thread; each locks this subscriber only.
class FanoutSubscriber {
public:
  /// `sink` is null for a pulled subscription, and taken when nothing can fail any more.
  FanoutSubscriber(SubscriptionId id, std::string name, SubscriptionRequest request,
                   SubscriberCapacity capacity, std::shared_ptr<const Catalog> catalog,
                   std::size_t snapshot_version, std::unique_ptr<SubscriberSink>& sink);

  SubscriptionId id() const noexcept { return id_; }
  const std::string& name() const noexcept { return name_; }
  const SubscriptionRequest& request() const noexcept { return *request_; }

  /// Returns how many frames of the batch were accepted; the others are dropped and counted, also
  /// when memory runs out.
  std::size_t offer(const FrameBatch& batch);
  /// The fanout has come to know a stream: told with, or ahead of, the next delivery. Takes one of
  /// `starts`, which are all alike.
  void begin(std::list<StreamStart>& starts) noexcept;
  /// A stream has ended: told by `tell_ends`. Takes one of `ends`, which are all alike.
  void end(std::list<StreamEnd>& ends) noexcept;
  /// Pushed: so many as may be under way; the others follow as these are acknowledged. Throws
  /// `std::bad_alloc`, and then the ends that were not told are still due.
  void tell_ends();
  /// The stream ended before this subscriber came: pushed ones are told at the next `refresh`.
  void end_before_start(const StreamEnd& end);
  /// What is due of this stream and not queued is told no more.
  void forget(const StreamId& stream) noexcept;
  /// Tells what is due and needs no frame to travel with: declarations, a count of drops, ends.
  void refresh();
  bool acknowledge(std::uint64_t sequence);
  /// Pushed: nothing is due or unacknowledged. Pulled ones always are.
  bool settled() const;
  /// Nothing more comes. What is queued for pulling stays.
  void close();
  /// Gives up everything outstanding. Returns the final counts.
  SubscriberCounts leave();

  std::expected<EventBatch, RecvError> try_recv();
  std::expected<EventBatch, RecvError> recv(const std::stop_token& stop);
  std::expected<EventBatch, RecvError> recv_until(std::chrono::steady_clock::time_point deadline,
                                                  const std::stop_token& stop);

  SubscriberCounts counts() const;
  SubscriberLedger ledger() const { return {id_, name_, counts()}; }

private:
  struct Item {
    FrameBatch frames{}; // empty once it was pushed
    std::size_t count = 0;
    std::size_t bytes = 0;
    std::uint64_t sequence = 0;
    std::uint64_t dropped = 0;
    std::optional<StreamEnd> ended{};
  };

  bool push_mode() const noexcept { return sink_ != nullptr; }
  std::size_t known_version() const noexcept;
  std::size_t accept(const FrameBatch& batch);
  void tell_ends_locked();
  FrameBatch fitting(const FrameBatch& batch) const;
  void enqueue(Item item);
  EventBatch make_event(Item& item);
  void told(std::uint64_t dropped);
  bool declarations_due() const;
  bool news_due() const;
  void refresh_locked();
  std::optional<EventBatch> take();
  std::size_t release_front();

  const SubscriptionId id_;
  const std::string name_;
  const std::shared_ptr<const SubscriptionRequest> request_;
  const SubscriberCapacity capacity_;
  const std::shared_ptr<const Catalog> catalog_;
  const std::size_t snapshot_version_;

  mutable std::mutex mutex_;
  std::condition_variable_any arrived_;
  std::unique_ptr<SubscriberSink> sink_;
  std::deque<Item> items_; // pulled: what waits; pushed: what is unacknowledged
  SubscriberCounts counts_;
  std::size_t outstanding_bytes_ = 0;
  std::size_t told_version_;
  std::size_t telling_version_ = 0; // of the event under construction
  std::uint64_t told_dropped_ = 0;
  std::uint64_t last_sequence_ = 0;
  std::size_t notices_in_flight_ = 0; // pushed deliveries without frames, unacknowledged
  std::list<StreamEnd> ends_due_;     // to be told before anything else, as far as they may be
  std::list<StreamStart> starts_due_;
  std::size_t last_version_ = 0; // of the catalog when it was closed
  bool closed_ = false;
};

} // namespace datastream
