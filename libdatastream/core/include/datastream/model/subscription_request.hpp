#pragma once
/// What a subscriber asks for (specification 3.4), and what it is told first (5.8).

#include <datastream/model/channel_content.hpp>
#include <datastream/model/descriptor.hpp>
#include <datastream/model/ids.hpp>

#include <string>
#include <variant>
#include <vector>

namespace datastream {

namespace source_filter {
struct All {
  friend bool operator==(const All&, const All&) = default;
};
struct Origin {
  StreamOrigin origin;
  friend bool operator==(const Origin&, const Origin&) = default;
};
/// Every known life of a node.
struct Node {
  NodeId node;
  friend bool operator==(const Node&, const Node&) = default;
};
/// Exactly one life of one node.
struct Stream {
  StreamId stream;
  friend bool operator==(const Stream&, const Stream&) = default;
};
} // namespace source_filter

namespace channel_filter {
struct All {
  friend bool operator==(const All&, const All&) = default;
};
struct Name {
  std::string name;
  friend bool operator==(const Name&, const Name&) = default;
};
/// Plain starts-with on the channel's name; the empty prefix matches every channel.
struct Prefix {
  std::string prefix;
  friend bool operator==(const Prefix&, const Prefix&) = default;
};
/// The declared content class; payloads are not looked at.
struct Content {
  ChannelContentKind kind;
  friend bool operator==(const Content&, const Content&) = default;
};
} // namespace channel_filter

using SourceFilter = std::variant<source_filter::All, source_filter::Origin, source_filter::Node,
                                  source_filter::Stream>;
using ChannelFilter = std::variant<channel_filter::All, channel_filter::Name,
                                   channel_filter::Prefix, channel_filter::Content>;

/// Shapes a subscription's snapshot. Future events are not filtered by it (specification 6.2):
/// readers that want fewer apply `matches` themselves.
struct SubscriptionRequest {
  SourceFilter sources;
  ChannelFilter channels;

  static SubscriptionRequest all() { return {}; }
  friend bool operator==(const SubscriptionRequest&, const SubscriptionRequest&) = default;
};

/// Does the source filter accept this stream?
bool matches(const SourceFilter& filter, const StreamDescriptor& stream);

/// Does the channel filter accept this channel, whatever its stream?
bool matches(const ChannelFilter& filter, const ChannelDescriptor& channel);

/// Do both filters accept this channel of this stream?
bool matches(const SubscriptionRequest& request, const StreamDescriptor& stream,
             const ChannelDescriptor& channel);

/// The catalog as a new subscriber is told it: streams in the order of their ids, channels by
/// stream, then channel id.
struct DatastreamSnapshot {
  std::vector<StreamDescriptor> streams;
  std::vector<ChannelDescriptor> channels;
  friend bool operator==(const DatastreamSnapshot&, const DatastreamSnapshot&) = default;
};

} // namespace datastream
