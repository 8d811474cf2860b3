#include <datastream/actors/inspect.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace datastream::wire {

// Headers travel as they lie in memory.
static_assert(std::endian::native == std::endian::little, "the wire is little-endian");

namespace {

template <class Enum>
Enum checked(std::uint8_t value, Enum last) {
  return value <= static_cast<std::uint8_t>(last) ? static_cast<Enum>(value) : Enum{};
}

} // namespace

Content pack_content(const ChannelContent& content) {
  const auto* record = std::get_if<JsonRecord>(&content);
  return {static_cast<std::uint8_t>(content.index()),
          record ? pack(record->schema) : std::vector<std::string>{}};
}

ChannelContent unpack_content(Content&& content) {
  switch (checked(content.kind, ChannelContentKind::JsonRecord)) {
  case ChannelContentKind::TextStream:
    return TextStream{};
  case ChannelContentKind::JsonRecord:
    return JsonRecord{unpack(std::move(content.schema))};
  case ChannelContentKind::Bytes:
    break;
  }
  return Bytes{};
}

Stream pack_stream(const StreamDescriptor& stream) {
  return {stream.stream, pack(stream.label), static_cast<std::uint8_t>(stream.origin)};
}

StreamDescriptor unpack_stream(Stream&& stream) {
  return {std::move(stream.stream), unpack(std::move(stream.label)),
          checked(stream.origin, StreamOrigin::RemoteNode)};
}

Channel pack_channel(const ChannelDescriptor& channel) {
  return {channel.stream, channel.id, channel.name, pack(channel.label),
          pack_content(channel.content)};
}

ChannelDescriptor unpack_channel(Channel&& channel) {
  return {std::move(channel.stream), channel.id, std::move(channel.name),
          unpack(std::move(channel.label)), unpack_content(std::move(channel.content))};
}

Request pack_request(const SubscriptionRequest& request) {
  Request packed;
  packed.source = static_cast<std::uint8_t>(request.sources.index());
  if (const auto* origin = std::get_if<source_filter::Origin>(&request.sources))
    packed.origin = static_cast<std::uint8_t>(origin->origin);
  else if (const auto* node = std::get_if<source_filter::Node>(&request.sources))
    packed.stream.node = node->node;
  else if (const auto* stream = std::get_if<source_filter::Stream>(&request.sources))
    packed.stream = stream->stream;
  packed.channel = static_cast<std::uint8_t>(request.channels.index());
  if (const auto* name = std::get_if<channel_filter::Name>(&request.channels))
    packed.text = name->name;
  else if (const auto* prefix = std::get_if<channel_filter::Prefix>(&request.channels))
    packed.text = prefix->prefix;
  else if (const auto* content = std::get_if<channel_filter::Content>(&request.channels))
    packed.kind = static_cast<std::uint8_t>(content->kind);
  return packed;
}

SubscriptionRequest unpack_request(Request&& packed) {
  SubscriptionRequest request;
  switch (packed.source) {
  case 1:
    request.sources = source_filter::Origin{checked(packed.origin, StreamOrigin::RemoteNode)};
    break;
  case 2:
    request.sources = source_filter::Node{std::move(packed.stream.node)};
    break;
  case 3:
    request.sources = source_filter::Stream{std::move(packed.stream)};
    break;
  default:
    break;
  }
  switch (packed.channel) {
  case 1:
    request.channels = channel_filter::Name{std::move(packed.text)};
    break;
  case 2:
    request.channels = channel_filter::Prefix{std::move(packed.text)};
    break;
  case 3:
    request.channels =
        channel_filter::Content{checked(packed.kind, ChannelContentKind::JsonRecord)};
    break;
  default:
    break;
  }
  return request;
}

Batch pack_batch(const FrameBatch& batch) {
  if (batch.empty())
    return {};
  // Only the part of the block that this slice uses travels.
  std::uint32_t begin = ~0U;
  std::uint32_t end = 0;
  std::size_t payload = 0;
  for (const FrameHeader& header : batch.headers()) {
    begin = std::min(begin, header.offset);
    end = std::max(end, header.offset + header.length);
    payload += header.length;
  }
  // Payloads lie at multiples of eight in a mux's block; anything sparser is packed first.
  if (end - begin > payload + 8 * batch.size())
    return pack_batch(batch.compact());
  Batch packed;
  packed.stream = batch.stream();
  packed.block.assign(batch.block()->data() + begin, end - begin);
  packed.headers.resize(batch.size() * sizeof(FrameHeader));
  char* out = packed.headers.data();
  for (FrameHeader header : batch.headers()) {
    header.offset -= begin;
    std::memcpy(out, &header, sizeof header);
    out += sizeof header;
  }
  return packed;
}

FrameBatch unpack_batch(Batch&& packed, std::uint64_t& malformed) {
  std::vector<FrameHeader> headers(packed.headers.size() / sizeof(FrameHeader));
  if (headers.size() * sizeof(FrameHeader) != packed.headers.size()) {
    malformed += std::max<std::size_t>(headers.size(), 1);
    return {};
  }
  if (headers.empty())
    return {};
  std::memcpy(headers.data(), packed.headers.data(), packed.headers.size());
  BlockPtr block = adopt_string(std::move(packed.block));
  if (!block)
    throw std::bad_alloc();
  auto batch = FrameBatch::from_wire(std::move(packed.stream), headers, std::move(block));
  if (batch)
    return *std::move(batch);
  malformed += headers.size();
  return {};
}

Event pack_event(const EventBatch& event) {
  Event packed;
  packed.subscription = event.subscription;
  packed.sequence = event.sequence;
  for (const Declaration& declaration : event.declarations) {
    packed.declared.push_back(static_cast<char>(declaration.index()));
    if (const auto* stream = std::get_if<StreamDescriptorPtr>(&declaration))
      packed.streams.push_back(pack_stream(**stream));
    else
      packed.channels.push_back(pack_channel(*std::get<ChannelDescriptorPtr>(declaration)));
  }
  packed.starts = event.starts;
  packed.frames = pack_batch(event.frames);
  packed.dropped = event.dropped;
  packed.ended = pack(event.ended);
  return packed;
}

void unpack_event(Event&& packed, EventBatch& event) {
  event = {};
  event.subscription = packed.subscription;
  event.sequence = packed.sequence;
  auto stream = packed.streams.begin();
  auto channel = packed.channels.begin();
  for (const char kind : packed.declared) {
    if (kind == 0 && stream != packed.streams.end())
      event.declarations.emplace_back(
          std::make_shared<const StreamDescriptor>(unpack_stream(std::move(*stream++))));
    else if (kind == 1 && channel != packed.channels.end())
      event.declarations.emplace_back(
          std::make_shared<const ChannelDescriptor>(unpack_channel(std::move(*channel++))));
  }
  event.starts = std::move(packed.starts);
  event.frames = unpack_batch(std::move(packed.frames), event.malformed);
  event.dropped = packed.dropped;
  event.ended = unpack(std::move(packed.ended));
}

Page pack_page(const FramePage& page) {
  return {pack_batch(page.frames), pack(page.evicted), page.gaps, page.next, page.more};
}

void unpack_page(Page&& packed, FramePage& page) {
  page.malformed = 0;
  page.frames = unpack_batch(std::move(packed.frames), page.malformed);
  page.evicted = unpack(std::move(packed.evicted));
  page.gaps = std::move(packed.gaps);
  page.next = packed.next;
  page.more = packed.more;
}

Ingest pack_ingest(const IngestLedger& ledger) {
  return {ledger.stream,
          {ledger.arrived, ledger.stored, ledger.duplicates, ledger.conflicts,
           ledger.late_for_evicted, ledger.evicted},
          pack(ledger.from),
          pack(ledger.assigned),
          pack(ledger.lowest_stored),
          pack(ledger.highest_stored)};
}

void unpack_ingest(Ingest&& packed, IngestLedger& ledger) {
  packed.counts.resize(6);
  ledger = {.stream = std::move(packed.stream),
            .arrived = packed.counts[0],
            .stored = packed.counts[1],
            .duplicates = packed.counts[2],
            .conflicts = packed.counts[3],
            .late_for_evicted = packed.counts[4],
            .evicted = packed.counts[5],
            .from = unpack(std::move(packed.from)),
            .assigned = unpack(std::move(packed.assigned)),
            .lowest_stored = unpack(std::move(packed.lowest)),
            .highest_stored = unpack(std::move(packed.highest))};
}

} // namespace datastream::wire
