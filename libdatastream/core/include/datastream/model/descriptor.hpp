#pragma once
/// Catalog entries: what is known of a stream and of a channel (specification 2.2, 2.4).

#include <datastream/model/channel_content.hpp>
#include <datastream/model/ids.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace datastream {

/// Where a stream comes from. Metadata for subscriptions; it orders nothing.
enum class StreamOrigin { Orchestrator, Bootstrap, RemoteNode };

std::string_view to_string(StreamOrigin origin);

struct StreamDescriptor {
  StreamId stream;
  std::optional<std::string> label;
  StreamOrigin origin = StreamOrigin::RemoteNode;
  friend bool operator==(const StreamDescriptor&, const StreamDescriptor&) = default;
};

struct ChannelDescriptor {
  StreamId stream;
  ChannelId id;
  std::string name; ///< any text; by convention dotted segments, the first one its owner's
  std::optional<std::string> label;
  ChannelContent content;
  friend bool operator==(const ChannelDescriptor&, const ChannelDescriptor&) = default;
};

/// Descriptors never change once declared, so they are shared and never copied.
using StreamDescriptorPtr = std::shared_ptr<const StreamDescriptor>;
using ChannelDescriptorPtr = std::shared_ptr<const ChannelDescriptor>;

/// One entry of a catalog's log: a stream or one of its channels became known.
using Declaration = std::variant<StreamDescriptorPtr, ChannelDescriptorPtr>;

} // namespace datastream
