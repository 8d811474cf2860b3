#pragma once
/// What a subscriber of the simple reference receives: the specification's event vocabulary.

#include "reference/simple/frame.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace reference::simple {

/// Names are shared, as upstream shares them; everything else of an event is its own.
using SharedStreamId = std::shared_ptr<const StreamId>;

enum class StreamOrigin { orchestrator, bootstrap, remote_node };

struct StreamDescriptor {
  SharedStreamId stream;
  std::optional<std::string> label;
  StreamOrigin origin = StreamOrigin::remote_node;
};

enum class ChannelContentKind { bytes, text_stream, json_record };

struct ChannelDescriptor {
  SharedStreamId stream;
  std::uint32_t id = 0;
  std::string name;
  std::optional<std::string> label;
  ChannelContentKind content = ChannelContentKind::bytes;
  std::optional<std::string> schema;
};

struct FrameDelivery {
  SharedStreamId stream;
  Frame frame;
};

struct StreamEnded {
  SharedStreamId stream;
};

using Event = std::variant<StreamDescriptor, ChannelDescriptor, FrameDelivery, StreamEnded>;

} // namespace reference::simple
