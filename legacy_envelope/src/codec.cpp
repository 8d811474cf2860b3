#include <datastream/envelope/codec.hpp>

#include <cstring>
#include <limits>

namespace datastream {
namespace {

constexpr std::size_t length_max = std::numeric_limits<std::uint32_t>::max();

char* write_envelope(char* out, const StreamId& stream, const FrameView& frame) noexcept {
  const std::string& node = stream.node.value;
  out = detail::store_little(out, static_cast<std::uint32_t>(node.size()));
  out += node.copy(out, node.size());
  out = detail::store_little(out, stream.life.value);
  out = detail::store_little(out, frame.position.value);
  out = detail::store_little(out, frame.channel.value);
  out = detail::store_little(out, static_cast<std::uint32_t>(frame.payload.size()));
  // An empty payload may have no address.
  if (!frame.payload.empty())
    std::memcpy(out, frame.payload.data(), frame.payload.size());
  return out + frame.payload.size();
}

} // namespace

std::string_view to_string(EnvelopeError error) {
  switch (error) {
  case EnvelopeError::truncated:
    return "truncated";
  case EnvelopeError::bad_length:
    return "bad_length";
  case EnvelopeError::not_utf8:
    return "not_utf8";
  case EnvelopeError::trailing_bytes:
    return "trailing_bytes";
  case EnvelopeError::unknown_tag:
    return "unknown_tag";
  }
  return "unknown";
}

std::expected<Delivery, EnvelopeError> decode_delivery(std::string_view bytes) {
  const auto envelope = decode_envelope(bytes);
  if (!envelope)
    return std::unexpected(envelope.error());
  return envelope->to_delivery();
}

std::expected<void, EnvelopeError> decode_delivery(Delivery& out, std::string_view bytes) {
  const auto envelope = decode_envelope(bytes);
  if (!envelope)
    return std::unexpected(envelope.error());
  if (!envelope->belongs_to(out.stream)) { // mostly it is the stream of the last one
    out.stream.node.value = envelope->node;
    out.stream.life = envelope->life;
  }
  out.frame.payload = envelope->payload;
  out.frame.channel = envelope->channel;
  out.frame.position = envelope->position;
  return {};
}

std::expected<void, EnvelopeError> encode_envelope(std::string& out, const StreamId& stream,
                                                   const FrameView& frame) {
  if (stream.node.value.size() > length_max || frame.payload.size() > length_max)
    return std::unexpected(EnvelopeError::bad_length);
  if (!detail::is_utf8_name(stream.node.value))
    return std::unexpected(EnvelopeError::not_utf8);
  const std::size_t size = envelope_size(stream, frame.payload.size());
  out.resize_and_overwrite(size, [&](char* begin, std::size_t) {
    write_envelope(begin, stream, frame);
    return size;
  });
  return {};
}

std::expected<void, EnvelopeError> encode_framed(std::string& out, const FrameBatch& batch) {
  if (batch.empty())
    return {};
  const StreamId& stream = batch.stream();
  if (!detail::is_utf8_name(stream.node.value))
    return std::unexpected(EnvelopeError::not_utf8);
  std::size_t bytes = out.size();
  for (const FrameHeader& header : batch.headers()) {
    const std::size_t envelope = envelope_size(stream, header.length);
    if (envelope > length_max)
      return std::unexpected(EnvelopeError::bad_length);
    bytes += envelope_prefix + envelope;
  }
  const std::size_t before = out.size();
  out.resize_and_overwrite(bytes, [&](char* begin, std::size_t) {
    char* at = begin + before;
    for (const FrameView& frame : batch) {
      const std::size_t envelope = envelope_size(stream, frame.payload.size());
      at = detail::store_little(at, static_cast<std::uint32_t>(envelope));
      at = write_envelope(at, stream, frame);
    }
    return bytes;
  });
  return {};
}

} // namespace datastream
