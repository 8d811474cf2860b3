#pragma once
/// What a subscriber receives: declarations, then frames, then perhaps the end of a stream.

#include <datastream/model/descriptor.hpp>
#include <datastream/model/event.hpp>
#include <datastream/model/frame_batch.hpp>
#include <datastream/model/subscription_request.hpp>
#include <datastream/pipe/catalog.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace datastream {

/// Finds the names of the channels that one subscriber has been told of.
///
/// Thread safety: as a value; look-ups from any thread.
class DeclaredNames {
public:
  DeclaredNames() = default;
  /// Everything in `catalog`.
  explicit DeclaredNames(std::shared_ptr<const Catalog> catalog);
  /// What a snapshot for `request` at version `snapshot` showed, and every declaration from there
  /// up to version `told`.
  DeclaredNames(std::shared_ptr<const Catalog> catalog,
                std::shared_ptr<const SubscriptionRequest> request, std::size_t snapshot,
                std::size_t told);

  /// The channel; null where it was not declared, or its stream was forgotten since.
  ChannelDescriptorPtr find(const StreamId& stream, ChannelId channel) const;
  /// Its name; empty where there is none.
  std::string name(const StreamId& stream, ChannelId channel) const;

private:
  std::shared_ptr<const Catalog> catalog_;
  std::shared_ptr<const SubscriptionRequest> request_;
  std::size_t snapshot_ = 0;
  std::size_t told_ = 0;
};

/// Where a subscription begins in one stream.
struct StreamStart {
  StreamId stream;
  Position from; ///< the first position that will be offered
  friend bool operator==(const StreamStart&, const StreamStart&) = default;
};

/// The end of a stream, with its final number of positions: what is missing after the last frame
/// that arrived is known from it.
struct StreamEnd {
  StreamId stream;
  std::uint64_t assigned = 0;
  friend bool operator==(const StreamEnd&, const StreamEnd&) = default;
};

/// One delivery to one subscriber. Cheap to copy: frames are shared.
///
/// Thread safety: may be read from all threads at once.
struct EventBatch {
  SubscriptionId subscription;
  /// Deliveries to a subscriber actor are numbered from 1; acknowledgements name this number.
  std::uint64_t sequence = 0;
  /// What became known since the previous delivery; comes before `frames`.
  std::vector<Declaration> declarations;
  /// Streams that the fanout came to know after the subscription had begun, each once and before
  /// anything of it: what is missing before the first frame is known from it.
  std::vector<StreamStart> starts;
  FrameBatch frames; ///< of one stream; may be empty
  /// Copies that this subscriber has lost so far, before this delivery.
  std::uint64_t dropped = 0;
  /// Frames that a peer sent in a batch that makes no sense; refused on arrival.
  std::uint64_t malformed = 0;
  /// Set when nothing of a stream follows; comes after `frames`.
  std::optional<StreamEnd> ended;
  DeclaredNames names;

  /// Calls `handler(const FrameView&)` for every frame, with its channel's name filled in. The name
  /// is valid during the call, and after it only as long as nobody forgets the stream.
  template <class Handler>
  void each(Handler&& handler) const;

  /// Calls `handler(const DatastreamEvent&)` for everything in this delivery, in its logical
  /// order. Copies payloads: for adapters and tests.
  template <class Handler>
  void each_event(Handler&& handler) const;
};

template <class Handler>
void EventBatch::each(Handler&& handler) const {
  if (frames.empty())
    return;
  // A batch has few channels: remember the last one seen in each place instead of asking the
  // catalog for every frame.
  struct Known {
    bool valid = false;
    ChannelId channel;
    ChannelDescriptorPtr descriptor;
  };
  std::array<Known, 16> known{};
  const StreamId& stream = frames.stream();
  for (FrameView frame : frames) {
    Known& place = known[frame.channel.value % known.size()];
    if (!place.valid || place.channel != frame.channel)
      place = {true, frame.channel, names.find(stream, frame.channel)};
    frame.name = place.descriptor ? std::string_view(place.descriptor->name) : std::string_view();
    handler(std::as_const(frame));
  }
}

template <class Handler>
void EventBatch::each_event(Handler&& handler) const {
  for (const Declaration& declaration : declarations) {
    if (const auto* stream = std::get_if<StreamDescriptorPtr>(&declaration))
      handler(DatastreamEvent(StreamDeclared{**stream}));
    else
      handler(DatastreamEvent(ChannelDeclared{*std::get<ChannelDescriptorPtr>(declaration)}));
  }
  for (const FrameView& frame : frames)
    handler(DatastreamEvent(FrameDelivery{
        {frames.stream(), frame.channel}, frame.position, std::string(frame.payload)}));
  if (ended)
    handler(DatastreamEvent(StreamEnded{ended->stream}));
}

} // namespace datastream
