#pragma once
/// Identities of the data model (specification 2.2 to 2.4). All are plain values; every type here
/// may be copied and read from any thread.

#include <compare>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace datastream {

/// Names one node. Any UTF-8 text, also empty; compared byte by byte.
struct NodeId {
  std::string value;

  NodeId() = default;
  NodeId(std::string name) : value(std::move(name)) {} // implicit: a node is named by its text
  NodeId(const char* name) : value(name) {}

  friend auto operator<=>(const NodeId&, const NodeId&) = default;
};

/// One incarnation of a node. A node that restarts takes a new life, so that its new stream never
/// mixes with the old one.
struct Lifetime {
  std::uint64_t value = 0;
  friend auto operator<=>(const Lifetime&, const Lifetime&) = default;
};

/// Identifies a stream: one life of one node (specification 2.2). Ordered by node, then life.
struct StreamId {
  NodeId node;
  Lifetime life;
  friend auto operator<=>(const StreamId&, const StreamId&) = default;
};

/// A frame's place in its stream (specification 2.3): assigned by the mux while draining, from 0,
/// without holes. Positions of different streams are not comparable.
struct Position {
  std::uint64_t value = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};

/// A channel's number within one stream (specification 2.4). Registered channels count up from 1.
struct ChannelId {
  std::uint32_t value = 0;
  friend auto operator<=>(const ChannelId&, const ChannelId&) = default;
};

/// A channel named beyond its stream.
struct ChannelRef {
  StreamId stream;
  ChannelId channel;
  friend auto operator<=>(const ChannelRef&, const ChannelRef&) = default;
};

/// Number of one subscription at one fanout, from 1.
struct SubscriptionId {
  std::uint64_t value = 0;
  friend auto operator<=>(const SubscriptionId&, const SubscriptionId&) = default;
};

/// A life that no earlier run of this node had: milliseconds since 1970, shifted left by ten bits,
/// plus ten random bits. Stays below 2^53, so JSON readers keep it exactly.
Lifetime fresh_life();

/// `node-a#7`: how a stream is written in logs and archives.
std::string to_string(const StreamId& stream);
/// The same read, exactly as it is written; the last `#` is the one that counts. Nothing for
/// anything else.
std::optional<StreamId> parse_stream_id(std::string_view text);

std::ostream& operator<<(std::ostream& out, const NodeId& node);
std::ostream& operator<<(std::ostream& out, Lifetime life);
std::ostream& operator<<(std::ostream& out, const StreamId& stream);
std::ostream& operator<<(std::ostream& out, Position position);
std::ostream& operator<<(std::ostream& out, ChannelId channel);
std::ostream& operator<<(std::ostream& out, SubscriptionId subscription);

} // namespace datastream

template <>
struct std::hash<datastream::StreamId> {
  std::size_t operator()(const datastream::StreamId& id) const noexcept {
    const auto node = std::hash<std::string>{}(id.node.value);
    return node ^ (std::hash<std::uint64_t>{}(id.life.value) + 0x9e3779b97f4a7c15ULL + (node << 6));
  }
};

template <>
struct std::hash<datastream::ChannelId> {
  std::size_t operator()(datastream::ChannelId id) const noexcept {
    return std::hash<std::uint32_t>{}(id.value);
  }
};
