#pragma once
/// How values of the library travel in CAF messages. A batch travels as its headers and its block,
/// each in one piece; what came from a peer is checked before it is used.

#include <datastream/actors/messages.hpp>
#include <datastream/caf/inspect.hpp>
#include <datastream/model/ledger.hpp>
#include <datastream/pipe/delivery_fanout.hpp>
#include <datastream/pipe/event_batch.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace datastream {

// --- plain values ---------------------------------------------------------------------------

template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, NodeId& x) {
  return compat::inspect_object(f, x, "NodeId", "value", x.value);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, Lifetime& x) {
  return compat::inspect_object(f, x, "Lifetime", "value", x.value);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, StreamId& x) {
  return compat::inspect_object(f, x, "StreamId", "node", x.node, "life", x.life);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, Position& x) {
  return compat::inspect_object(f, x, "Position", "value", x.value);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, ChannelId& x) {
  return compat::inspect_object(f, x, "ChannelId", "value", x.value);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, SubscriptionId& x) {
  return compat::inspect_object(f, x, "SubscriptionId", "value", x.value);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, StreamEnd& x) {
  return compat::inspect_object(f, x, "StreamEnd", "stream", x.stream, "assigned", x.assigned);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, StreamStart& x) {
  return compat::inspect_object(f, x, "StreamStart", "stream", x.stream, "from", x.from);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, GapSpan& x) {
  return compat::inspect_object(f, x, "GapSpan", "first", x.first, "last", x.last);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, EvictedRange& x) {
  return compat::inspect_object(f, x, "EvictedRange", "end", x.end, "frames", x.frames, "bytes",
                                x.bytes, "missing", x.missing);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, SubscriberCapacity& x) {
  return compat::inspect_object(f, x, "SubscriberCapacity", "frames", x.frames, "bytes", x.bytes);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, EndpointTick& x) {
  return compat::inspect_object(f, x, "EndpointTick", "drained", x.drained, "delivered",
                                x.delivered, "dropped_for_subscribers", x.dropped_for_subscribers,
                                "subscribers", x.subscribers);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, RefusedCounts& x) {
  return compat::inspect_object(f, x, "RefusedCounts", "mux_frames_full", x.mux_frames_full,
                                "mux_bytes_full", x.mux_bytes_full, "stream_ended", x.stream_ended,
                                "payload_too_large", x.payload_too_large, "out_of_memory",
                                x.out_of_memory);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, SubscriberCounts& x) {
  return compat::inspect_object(f, x, "SubscriberCounts", "offered", x.offered, "acknowledged",
                                x.acknowledged, "dropped", x.dropped, "outstanding", x.outstanding,
                                "abandoned", x.abandoned);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, SubscriberLedger& x) {
  return compat::inspect_object(f, x, "SubscriberLedger", "id", x.id, "name", x.name, "counts",
                                x.counts);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, FanoutLedger& x) {
  return compat::inspect_object(f, x, "FanoutLedger", "subscribers", x.subscribers, "departed",
                                x.departed, "stray_acknowledgements", x.stray_acknowledgements,
                                "frames_after_end", x.frames_after_end);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, PipeLedger& x) {
  return compat::inspect_object(
      f, x, "PipeLedger", "stream", x.stream, "refused", x.refused, "in_mux", x.in_mux, "assigned",
      x.assigned, "in_transit", x.in_transit, "published", x.published, "bitbucketed",
      x.bitbucketed, "drained_directly", x.drained_directly, "ended", x.ended, "fanout", x.fanout);
}

template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, ForgottenLedger& x) {
  return compat::inspect_object(f, x, "ForgottenLedger", "streams", x.streams, "arrived", x.arrived,
                                "stored", x.stored, "duplicates", x.duplicates, "conflicts",
                                x.conflicts, "late_for_evicted", x.late_for_evicted, "evicted",
                                x.evicted, "missing", x.missing);
}

// --- choices and optional parts -----------------------------------------------------------------

namespace wire {

/// An optional value as a sequence of none or one.
template <class T>
std::vector<T> pack(const std::optional<T>& value) {
  return value ? std::vector<T>{*value} : std::vector<T>{};
}
template <class T>
std::optional<T> unpack(std::vector<T>&& values) {
  return values.empty() ? std::nullopt : std::optional<T>(std::move(values.front()));
}

/// A content class: its number, and a record's schema.
struct Content {
  std::uint8_t kind = 0;
  std::vector<std::string> schema;
};
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, Content& x) {
  return compat::inspect_object(f, x, "Content", "kind", x.kind, "schema", x.schema);
}

struct Stream {
  StreamId stream;
  std::vector<std::string> label;
  std::uint8_t origin = 0;
};
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, Stream& x) {
  return compat::inspect_object(f, x, "Stream", "stream", x.stream, "label", x.label, "origin",
                                x.origin);
}

struct Channel {
  StreamId stream;
  ChannelId id;
  std::string name;
  std::vector<std::string> label;
  Content content;
};
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, Channel& x) {
  return compat::inspect_object(f, x, "Channel", "stream", x.stream, "id", x.id, "name", x.name,
                                "label", x.label, "content", x.content);
}

/// A request: the number of each filter's alternative, and whatever it holds.
struct Request {
  std::uint8_t source = 0;
  StreamId stream;
  std::uint8_t channel = 0;
  std::string text;
  std::uint8_t kind = 0; ///< of contents
  std::uint8_t origin = 0;
};
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, Request& x) {
  return compat::inspect_object(f, x, "Request", "source", x.source, "stream", x.stream, "channel",
                                x.channel, "text", x.text, "kind", x.kind, "origin", x.origin);
}

struct Batch {
  StreamId stream;
  std::string headers; ///< `FrameHeader`s as they are in memory
  std::string block;
};
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, Batch& x) {
  return compat::inspect_object(f, x, "Batch", "stream", x.stream, "headers", x.headers, "block",
                                x.block);
}

struct Event {
  SubscriptionId subscription;
  std::uint64_t sequence = 0;
  /// 0 for the next of `streams`, 1 for the next of `channels`. A string: CAF 0.17.6 makes room for
  /// as many elements as a sequence of bytes claims to have, before it looks for them.
  std::string declared;
  std::vector<Stream> streams;
  std::vector<Channel> channels;
  std::vector<StreamStart> starts;
  Batch frames;
  std::uint64_t dropped = 0;
  std::vector<StreamEnd> ended;
};
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, Event& x) {
  return compat::inspect_object(f, x, "Event", "subscription", x.subscription, "sequence",
                                x.sequence, "declared", x.declared, "streams", x.streams,
                                "channels", x.channels, "starts", x.starts, "frames", x.frames,
                                "dropped", x.dropped, "ended", x.ended);
}

struct Page {
  Batch frames;
  std::vector<EvictedRange> evicted;
  std::vector<GapSpan> gaps;
  Position next;
  bool more = false;
};
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, Page& x) {
  return compat::inspect_object(f, x, "Page", "frames", x.frames, "evicted", x.evicted, "gaps",
                                x.gaps, "next", x.next, "more", x.more);
}

struct Ingest {
  StreamId stream;
  std::vector<std::uint64_t> counts; ///< arrived, stored, duplicates, conflicts, late, evicted
  std::vector<Position> from;
  std::vector<std::uint64_t> assigned;
  std::vector<Position> lowest;
  std::vector<Position> highest;
};
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, Ingest& x) {
  return compat::inspect_object(f, x, "Ingest", "stream", x.stream, "counts", x.counts, "from",
                                x.from, "assigned", x.assigned, "lowest", x.lowest, "highest",
                                x.highest);
}

Content pack_content(const ChannelContent& content);
ChannelContent unpack_content(Content&& content);
Stream pack_stream(const StreamDescriptor& stream);
StreamDescriptor unpack_stream(Stream&& stream);
Channel pack_channel(const ChannelDescriptor& channel);
ChannelDescriptor unpack_channel(Channel&& channel);
Request pack_request(const SubscriptionRequest& request);
SubscriptionRequest unpack_request(Request&& request);
Batch pack_batch(const FrameBatch& batch);
/// A batch that makes no sense comes out empty; `malformed` gets the number of its headers.
FrameBatch unpack_batch(Batch&& batch, std::uint64_t& malformed);
Event pack_event(const EventBatch& event);
void unpack_event(Event&& wire, EventBatch& event);
Page pack_page(const FramePage& page);
void unpack_page(Page&& wire, FramePage& page);
Ingest pack_ingest(const IngestLedger& ledger);
void unpack_ingest(Ingest&& wire, IngestLedger& ledger);

} // namespace wire

template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, ChannelContent& x) {
  return compat::inspect_as<wire::Content>(
      f, x, "ChannelContent", [](const ChannelContent& y) { return wire::pack_content(y); },
      [](wire::Content&& w, ChannelContent& y) { y = wire::unpack_content(std::move(w)); });
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, StreamDescriptor& x) {
  return compat::inspect_as<wire::Stream>(
      f, x, "StreamDescriptor", [](const StreamDescriptor& y) { return wire::pack_stream(y); },
      [](wire::Stream&& w, StreamDescriptor& y) { y = wire::unpack_stream(std::move(w)); });
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, ChannelDescriptor& x) {
  return compat::inspect_as<wire::Channel>(
      f, x, "ChannelDescriptor", [](const ChannelDescriptor& y) { return wire::pack_channel(y); },
      [](wire::Channel&& w, ChannelDescriptor& y) { y = wire::unpack_channel(std::move(w)); });
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, DatastreamSnapshot& x) {
  return compat::inspect_object(f, x, "DatastreamSnapshot", "streams", x.streams, "channels",
                                x.channels);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, SubscriptionRequest& x) {
  return compat::inspect_as<wire::Request>(
      f, x, "SubscriptionRequest",
      [](const SubscriptionRequest& y) { return wire::pack_request(y); },
      [](wire::Request&& w, SubscriptionRequest& y) { y = wire::unpack_request(std::move(w)); });
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, Subscribe& x) {
  return compat::inspect_object(f, x, "Subscribe", "name", x.name, "request", x.request, "capacity",
                                x.capacity, "token", x.token);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, SubscriptionStart& x) {
  return compat::inspect_object(f, x, "SubscriptionStart", "id", x.id, "snapshot", x.snapshot,
                                "starts", x.starts);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, EventBatch& x) {
  return compat::inspect_as<wire::Event>(
      f, x, "EventBatch", [](const EventBatch& y) { return wire::pack_event(y); },
      [](wire::Event&& w, EventBatch& y) { wire::unpack_event(std::move(w), y); });
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, FramePage& x) {
  return compat::inspect_as<wire::Page>(
      f, x, "FramePage", [](const FramePage& y) { return wire::pack_page(y); },
      [](wire::Page&& w, FramePage& y) { wire::unpack_page(std::move(w), y); });
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, IngestLedger& x) {
  return compat::inspect_as<wire::Ingest>(
      f, x, "IngestLedger", [](const IngestLedger& y) { return wire::pack_ingest(y); },
      [](wire::Ingest&& w, IngestLedger& y) { wire::unpack_ingest(std::move(w), y); });
}

template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, PublicationLedger& x) {
  return compat::inspect_object(f, x, "PublicationLedger", "arrived", x.arrived, "published",
                                x.published, "bitbucketed", x.bitbucketed, "malformed_frames",
                                x.malformed_frames, "conflicting_declarations",
                                x.conflicting_declarations, "fanout", x.fanout);
}

template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, OfferedNames& x) {
  return compat::inspect_object(f, x, "OfferedNames", "names", x.names);
}

template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, ConsumerLedger& x) {
  return compat::inspect_object(f, x, "ConsumerLedger", "streams", x.streams, "forgotten",
                                x.forgotten, "malformed_frames", x.malformed_frames,
                                "conflicting_declarations", x.conflicting_declarations);
}

} // namespace datastream

DATASTREAM_CAF_OWN_INSPECT(datastream::ChannelContent)
