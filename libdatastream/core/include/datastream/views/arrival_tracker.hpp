#pragma once
/// Which streams and channels still speak (specification 5.7).

#include <datastream/defaults.hpp>
#include <datastream/model/frame_batch.hpp>
#include <datastream/model/ids.hpp>
#include <datastream/pipe/event_batch.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace datastream {

enum class Liveness {
  live,   ///< something arrived not long ago
  silent, ///< nothing arrived for a while
  ended,  ///< the end of the stream was announced
};

std::string_view to_string(Liveness liveness);

/// Notes when something last arrived. Frames carry no time and a store keeps none, so whoever gives
/// frames to a consumer gives them to a tracker as well. It has no clock of its own: every call
/// says what time it is.
///
///     consumer.accept(events);
///     arrivals.note(events, Clock::now());
///     …
///     if (arrivals.liveness(stream, Clock::now(), 10s) == Liveness::silent)
///       …
///
/// A duplicate is an arrival too. An end is final, whatever arrives after it. A batch costs one
/// look-up for each of its channels, if they are few, and not one for each frame.
///
/// Of one stream at most `defaults::tracked_channels` channels are known; frames of others count
/// for their stream only. `forget` bounds the number of streams.
///
/// Thread safety: one owner; const functions may run concurrently with each other.
class ArrivalTracker {
public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  /// One delivery of a subscription: its frames, and the end of their stream.
  void note(const EventBatch& events, Time now);
  void note(const FrameBatch& frames, Time now);
  void note(const ChannelRef& channel, Time now);
  void note_end(const StreamId& stream);
  /// The stream was never heard of.
  void forget(const StreamId& stream);

  /// When the latest frame arrived, if one did.
  std::optional<Time> last_arrival(const StreamId& stream) const;
  std::optional<Time> last_arrival(const ChannelRef& channel) const;

  /// `silent_after`: how old the last arrival may be. Nothing if neither a frame nor an end of it
  /// has arrived.
  std::optional<Liveness> liveness(const StreamId& stream, Time now,
                                   Clock::duration silent_after) const;
  /// The same for a channel. It ends with its stream.
  std::optional<Liveness> liveness(const ChannelRef& channel, Time now,
                                   Clock::duration silent_after) const;

private:
  struct Stream {
    std::optional<Time> last;
    bool ended = false;
    std::unordered_map<ChannelId, Time> channels;
  };

  static void note(Stream& stream, ChannelId channel, Time now);
  const Stream* find(const StreamId& stream) const;

  std::unordered_map<StreamId, Stream> streams_;
};

} // namespace datastream
