#include "descriptors_block.hpp"

#include "bytes.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace datastream::format {

namespace {

constexpr std::uint8_t stream_entry = 1;
constexpr std::uint8_t channel_entry = 2;
constexpr std::uint8_t start_entry = 3;
constexpr std::uint8_t end_entry = 4;
constexpr std::uint8_t source_entry = 5;
/// Of an entry: kind, numbers, lengths and at most four texts.
constexpr std::size_t entry_bytes_max = 64 + 4 * text_bytes_max;

void put_optional(std::string& out, const std::optional<std::string>& text) {
  put(out, static_cast<std::uint8_t>(text.has_value()));
  if (text)
    put_text(out, *text);
}

std::string_view take_text(ByteReader& in) {
  const std::string_view text = in.take_text();
  if (text.size() <= text_bytes_max)
    return text;
  in.fail();
  return {};
}

std::optional<std::string> take_optional(ByteReader& in) {
  switch (in.take<std::uint8_t>()) {
  case 0:
    return std::nullopt;
  case 1:
    return std::string(take_text(in));
  default:
    in.fail();
    return std::nullopt;
  }
}

bool fits(const std::optional<std::string>& text) {
  return !text || text->size() <= text_bytes_max;
}

void put_stream(std::string& out, const StreamId& stream) {
  put_text(out, stream.node.value);
  put(out, stream.life.value);
}

StreamId take_stream(ByteReader& in) {
  const std::string_view node = take_text(in);
  const auto life = in.take<std::uint64_t>();
  return {std::string(node), {life}};
}

/// What follows its kind.
Declaration take_declaration(ByteReader& in, std::uint8_t kind) {
  if (kind == stream_entry) {
    StreamDescriptor stream;
    stream.stream = take_stream(in);
    const auto origin = in.take<std::uint8_t>();
    if (origin > static_cast<std::uint8_t>(StreamOrigin::RemoteNode))
      in.fail();
    else
      stream.origin = static_cast<StreamOrigin>(origin);
    stream.label = take_optional(in);
    return std::make_shared<const StreamDescriptor>(std::move(stream));
  }
  ChannelDescriptor channel;
  if (kind != channel_entry)
    in.fail();
  channel.stream = take_stream(in);
  channel.id.value = in.take<std::uint32_t>();
  const auto content = in.take<std::uint8_t>();
  std::optional<std::string> schema = take_optional(in);
  if (content == 0)
    channel.content = Bytes{};
  else if (content == 1)
    channel.content = TextStream{};
  else if (content == 2)
    channel.content = JsonRecord{std::move(schema)};
  else
    in.fail();
  channel.label = take_optional(in);
  channel.name = std::string(take_text(in));
  return std::make_shared<const ChannelDescriptor>(std::move(channel));
}

} // namespace

bool fits(const StreamId& stream) {
  return stream.node.value.size() <= text_bytes_max;
}

bool fits(const Declaration& declaration) {
  if (const auto* stream = std::get_if<StreamDescriptorPtr>(&declaration))
    return fits((*stream)->stream) && fits((*stream)->label);
  const ChannelDescriptor& channel = *std::get<ChannelDescriptorPtr>(declaration);
  const auto* record = std::get_if<JsonRecord>(&channel.content);
  return fits(channel.stream) && channel.name.size() <= text_bytes_max && fits(channel.label) &&
         (!record || fits(record->schema));
}

void encode(std::string& out, const Declaration& declaration) {
  if (const auto* stream = std::get_if<StreamDescriptorPtr>(&declaration)) {
    put(out, stream_entry);
    put_stream(out, (*stream)->stream);
    put(out, static_cast<std::uint8_t>((*stream)->origin));
    put_optional(out, (*stream)->label);
    return;
  }
  const ChannelDescriptor& channel = *std::get<ChannelDescriptorPtr>(declaration);
  put(out, channel_entry);
  put_stream(out, channel.stream);
  put(out, channel.id.value);
  put(out, static_cast<std::uint8_t>(channel.content.index()));
  const auto* record = std::get_if<JsonRecord>(&channel.content);
  put_optional(out, record ? record->schema : std::nullopt);
  put_optional(out, channel.label);
  put_text(out, channel.name);
}

bool DescriptorsBlockBuilder::has_room() const noexcept {
  return body_.size() + entry_bytes_max <= body_bytes_max;
}

void DescriptorsBlockBuilder::begin_entry() {
  if (count_ == 0)
    put(body_, count_);
  ++count_;
}

void DescriptorsBlockBuilder::add(const Declaration& declaration) {
  begin_entry();
  encode(body_, declaration);
}

void DescriptorsBlockBuilder::add(const StreamStart& start) {
  begin_entry();
  put(body_, start_entry);
  put_stream(body_, start.stream);
  put(body_, start.from.value);
}

void DescriptorsBlockBuilder::add(const StreamEnd& end) {
  begin_entry();
  put(body_, end_entry);
  put_stream(body_, end.stream);
  put(body_, end.assigned);
}

void DescriptorsBlockBuilder::add_source(std::string_view source) {
  begin_entry();
  put(body_, source_entry);
  put_text(body_, source);
}

UnplacedBlock DescriptorsBlockBuilder::finish(Compressor& compressor) {
  set(body_.data(), count_);
  BlockHeader header;
  header.kind = BlockKind::descriptors;
  count_ = 0;
  return compressor.finish(header, {}, std::exchange(body_, {}));
}

Decoded<Declaration> decode_declaration(std::string_view bytes) {
  ByteReader in(bytes);
  const auto kind = in.take<std::uint8_t>();
  Declaration declaration = take_declaration(in, kind);
  if (in.failed() || !in.empty())
    return malformed("a descriptor is malformed");
  return declaration;
}

Decoded<Descriptors> decode_descriptors(const BlockHeader& header, const BlockPtr& body) {
  ByteReader in({body->data(), header.raw_bytes});
  const auto count = in.take<std::uint32_t>();
  Descriptors descriptors;
  for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
    const auto kind = in.take<std::uint8_t>();
    if (kind == start_entry) {
      StreamId stream = take_stream(in);
      descriptors.starts.push_back({std::move(stream), {in.take<std::uint64_t>()}});
    } else if (kind == end_entry) {
      StreamId stream = take_stream(in);
      descriptors.ends.push_back({std::move(stream), in.take<std::uint64_t>()});
    } else if (kind == source_entry) {
      descriptors.source = take_text(in);
    } else {
      descriptors.declarations.push_back(take_declaration(in, kind));
    }
  }
  if (in.failed() || !in.empty())
    return malformed("a block of descriptors is malformed");
  return descriptors;
}

} // namespace datastream::format
