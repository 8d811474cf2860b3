#pragma once
/// The receiving end of a transport (specification 7.1, 7.4, 5.8).

#include <datastream/ingest/store.hpp>
#include <datastream/model/descriptor.hpp>
#include <datastream/model/event.hpp>
#include <datastream/model/frame.hpp>
#include <datastream/model/frame_batch.hpp>
#include <datastream/model/subscription_request.hpp>
#include <datastream/pipe/catalog.hpp>
#include <datastream/pipe/event_batch.hpp>
#include <datastream/pipe/subscription.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <set>
#include <string_view>
#include <vector>

namespace datastream {

/// Puts what arrives where it belongs: frames into a store, each at its position of its stream, and
/// declarations into a catalog, which joins the frames' numbers with names. Looks into no payload.
///
///     Consumer consumer;
///     consumer.accept(event);
///     for (const FrameView& frame : consumer.store().find(id)->frames())
///       std::cout << consumer.channel_name(id, frame.channel) << ": " << frame.payload << '\n';
///
/// A frame may come before the declaration of its channel, or without any: it is stored all the
/// same (invariant 12).
///
/// Thread safety: one owner; const functions may run concurrently with each other, and the catalog
/// may be used from anywhere.
class Consumer {
public:
  explicit Consumer(Retention per_stream = {}) : store_(per_stream) {}

  /// Stores a frame; returns whether its position was new.
  bool accept(const Delivery& delivery);
  /// Stores a batch, by reference where that pays; returns how many of its frames were new.
  std::size_t accept(const FrameBatch& batch);
  /// Stores a frame, or notes a declaration or the end of a stream.
  void accept(const DatastreamEvent& event);
  /// Takes a whole delivery of a subscription; returns how many of its frames were new. Starts and
  /// ends tell what is missing before the first frame and after the last.
  std::size_t accept(const EventBatch& events);
  /// Takes what a subscription begins with: its snapshot, and the positions from which each stream
  /// is offered, so that what is missing before the first frame is known.
  void begin(const SubscriptionStart& start);

  /// Stores deliveries one by one; returns how many were new.
  template <std::ranges::input_range Deliveries>
    requires std::convertible_to<std::ranges::range_reference_t<Deliveries>, const Delivery&>
  std::size_t ingest(Deliveries&& deliveries) {
    std::size_t stored = 0;
    for (const Delivery& delivery : deliveries)
      stored += accept(delivery) ? 1 : 0;
    return stored;
  }

  /// Takes over a catalog, or one of its entries.
  void declare(const DatastreamSnapshot& snapshot);
  void declare(const Declaration& declaration);

  /// Channels that were declared again with another meaning. The first declaration stays.
  std::uint64_t conflicting_declarations() const noexcept { return conflicting_declarations_; }
  /// Frames that peers sent in batches that make no sense; refused.
  std::uint64_t malformed_frames() const noexcept { return malformed_frames_; }
  /// Whether the stream's end was announced. Frames that come later are stored nevertheless.
  bool ended(const StreamId& stream) const { return ended_.contains(stream); }

  /// Forgets a stream: its frames, its channels, and that it ended. See `Store::forget`, also for
  /// what happens to its counts. Returns whether anything was known of it.
  bool forget(const StreamId& stream);

  /// A channel's name, valid until the stream is forgotten or this consumer ends; empty when it was
  /// not declared.
  std::string_view channel_name(const StreamId& stream, ChannelId channel) const;

  const Store& store() const noexcept { return store_; }
  Store& store() noexcept { return store_; }
  Store into_store() && { return std::move(store_); }

  Catalog& catalog() noexcept { return catalog_; }
  const Catalog& catalog() const noexcept { return catalog_; }

private:
  void expect(const std::vector<StreamStart>& starts);

  Store store_;
  Catalog catalog_;
  std::set<StreamId> ended_;
  std::uint64_t conflicting_declarations_ = 0;
  std::uint64_t malformed_frames_ = 0;
};

} // namespace datastream
