#pragma once
/// The vocabulary of a live subscription (specification 2.5).

#include <datastream/model/descriptor.hpp>
#include <datastream/model/frame.hpp>

#include <optional>
#include <variant>

namespace datastream {

struct StreamDeclared {
  StreamDescriptor descriptor;
  friend bool operator==(const StreamDeclared&, const StreamDeclared&) = default;
};

struct ChannelDeclared {
  ChannelDescriptor descriptor;
  friend bool operator==(const ChannelDeclared&, const ChannelDeclared&) = default;
};

/// Nothing of this stream follows.
struct StreamEnded {
  StreamId stream;
  friend bool operator==(const StreamEnded&, const StreamEnded&) = default;
};

using DatastreamEvent = std::variant<StreamDeclared, ChannelDeclared, FrameDelivery, StreamEnded>;

/// A frame event in the older `Delivery` form; nothing for the other events (specification 6.1).
std::optional<Delivery> to_delivery(const DatastreamEvent& event);

} // namespace datastream
