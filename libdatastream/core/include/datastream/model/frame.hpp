#pragma once
/// Single frames (specification 2.1, 2.5, 6.1). What flows through the pipe is `FrameBatch`; these
/// types are for single frames, for tests and for adapters.

#include <datastream/model/ids.hpp>

#include <string>
#include <string_view>

namespace datastream {

/// A frame that owns its payload. The payload is opaque bytes; `std::string` only holds them.
struct Frame {
  ChannelId channel;
  Position position;
  std::string payload;
  friend bool operator==(const Frame&, const Frame&) = default;
};

/// A frame seen in memory that somebody else keeps alive: the batch, subscription delivery or
/// store that it came from. Never outlives it.
struct FrameView {
  ChannelId channel;
  Position position;
  std::string_view payload; ///< opaque bytes
  std::string_view name;    ///< the channel's name where the source knows it, else empty

  Frame to_frame() const { return {channel, position, std::string(payload)}; }
};

/// The older form of a frame in transit (specification 6.1): what `Consumer::accept` takes.
struct Delivery {
  StreamId stream;
  Frame frame;
  friend bool operator==(const Delivery&, const Delivery&) = default;
};

/// A frame as a live event (specification 2.5): stream and channel resolved into one reference.
struct FrameDelivery {
  ChannelRef channel;
  Position position;
  std::string payload;
  friend bool operator==(const FrameDelivery&, const FrameDelivery&) = default;
};

} // namespace datastream
