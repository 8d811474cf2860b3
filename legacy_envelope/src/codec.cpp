#include <datastream/envelope/codec.hpp>

#include "little_endian.hpp"

#include <datastream/model/utf8.hpp>

#include <cstring>
#include <limits>

namespace datastream {
namespace {

constexpr std::size_t length_max = std::numeric_limits<std::uint32_t>::max();

/// Consumes a buffer from its front.
class Reader {
public:
  explicit Reader(std::string_view bytes) noexcept : rest_(bytes) {}

  bool has(std::size_t bytes) const noexcept { return rest_.size() >= bytes; }
  bool empty() const noexcept { return rest_.empty(); }

  template <class Integer>
  Integer integer() noexcept {
    const auto value = load_little<Integer>(rest_.data());
    rest_.remove_prefix(sizeof(Integer));
    return value;
  }

  std::string_view take(std::size_t bytes) noexcept {
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

private:
  std::string_view rest_;
};

char* write_envelope(char* out, const StreamId& stream, const FrameView& frame) noexcept {
  const std::string& node = stream.node.value;
  out = store_little(out, static_cast<std::uint32_t>(node.size()));
  std::memcpy(out, node.data(), node.size()); // NOLINT(bugprone-not-null-terminated-result)
  out = store_little(out + node.size(), stream.life.value);
  out = store_little(out, frame.position.value);
  out = store_little(out, frame.channel.value);
  out = store_little(out, static_cast<std::uint32_t>(frame.payload.size()));
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

std::expected<EnvelopeView, EnvelopeError> decode_envelope(std::string_view bytes) noexcept {
  constexpr std::size_t numbers = 8 + 8 + 4 + 4; // life, position, channel, length of the payload
  Reader reader(bytes);
  if (!reader.has(4))
    return std::unexpected(EnvelopeError::truncated);
  const std::size_t node_length = reader.integer<std::uint32_t>();
  if (!reader.has(node_length))
    return std::unexpected(EnvelopeError::truncated);
  EnvelopeView envelope;
  envelope.node = reader.take(node_length);
  if (!is_utf8(envelope.node))
    return std::unexpected(EnvelopeError::not_utf8);
  if (!reader.has(numbers))
    return std::unexpected(EnvelopeError::truncated);
  envelope.life.value = reader.integer<std::uint64_t>();
  envelope.position.value = reader.integer<std::uint64_t>();
  envelope.channel.value = reader.integer<std::uint32_t>();
  const std::size_t payload_length = reader.integer<std::uint32_t>();
  if (!reader.has(payload_length))
    return std::unexpected(EnvelopeError::truncated);
  envelope.payload = reader.take(payload_length);
  if (!reader.empty())
    return std::unexpected(EnvelopeError::trailing_bytes);
  return envelope;
}

std::expected<Delivery, EnvelopeError> decode_delivery(std::string_view bytes) {
  const auto envelope = decode_envelope(bytes);
  if (!envelope)
    return std::unexpected(envelope.error());
  return envelope->to_delivery();
}

std::expected<void, EnvelopeError> encode_envelope(std::string& out, const StreamId& stream,
                                                   const FrameView& frame) {
  if (stream.node.value.size() > length_max || frame.payload.size() > length_max)
    return std::unexpected(EnvelopeError::bad_length);
  if (!is_utf8(stream.node.value))
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
  if (!is_utf8(stream.node.value))
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
      at = store_little(at, static_cast<std::uint32_t>(envelope));
      at = write_envelope(at, stream, frame);
    }
    return bytes;
  });
  return {};
}

} // namespace datastream
