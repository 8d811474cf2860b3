#pragma once
/// The legacy Delivery envelope: one frame of one stream as bytes (specification 6.4). What each
/// byte means is in docs/envelope.md. All functions may be called from any thread.

#include <datastream/envelope/detail/little_endian.hpp>
#include <datastream/envelope/detail/short_text.hpp>
#include <datastream/model/frame.hpp>
#include <datastream/model/frame_batch.hpp>
#include <datastream/model/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace datastream {

/// Why bytes are no envelope. The numbers are stable.
enum class EnvelopeError : std::uint8_t {
  truncated = 1,      ///< a field needs more bytes than are left, also by its own length
  bad_length = 2,     ///< encoding only: a node or payload longer than 32 bits can say
  not_utf8 = 3,       ///< the node's name is no text
  trailing_bytes = 4, ///< bytes follow a complete envelope
  unknown_tag = 5,    ///< of peers' event records; an envelope has no tag
};

std::string_view to_string(EnvelopeError error);

/// Bytes of an envelope besides its node's name and its payload.
inline constexpr std::size_t envelope_overhead = 28;

/// An envelope seen in memory that somebody else keeps alive.
struct EnvelopeView {
  std::string_view node; ///< UTF-8, perhaps empty
  Lifetime life;
  Position position;
  ChannelId channel;
  std::string_view payload; ///< opaque bytes, perhaps none

  FrameView frame() const noexcept { return {channel, position, payload, {}}; }
  StreamId stream() const { return {std::string(node), life}; }
  bool belongs_to(const StreamId& stream) const noexcept {
    return life == stream.life && detail::same_name(node, stream.node.value);
  }
  /// The same with bytes of its own.
  Delivery to_delivery() const { return {stream(), frame().to_frame()}; }
};

/// Reads one envelope, which must fill `bytes`. Fields are checked in their order; the first that
/// is wrong decides. Allocates nothing; lengths in the input are believed only as far as it
/// reaches. Errors: `truncated`, `not_utf8`, `trailing_bytes`.
std::expected<EnvelopeView, EnvelopeError> decode_envelope(std::string_view bytes) noexcept;

/// The same with bytes of its own. Throws `std::bad_alloc`.
std::expected<Delivery, EnvelopeError> decode_delivery(std::string_view bytes);
/// The same into `out`, in place of what it held; its memory is used again. Errors leave it
/// untouched; `std::bad_alloc` may leave parts of both in it.
std::expected<void, EnvelopeError> decode_delivery(Delivery& out, std::string_view bytes);

/// Bytes that the envelope of such a frame takes.
constexpr std::size_t envelope_size(const StreamId& stream, std::size_t payload_bytes) noexcept {
  return envelope_overhead + stream.node.value.size() + payload_bytes;
}

/// Writes one envelope into `out`, in place of what it held; its memory is used again. Errors, with
/// `out` untouched: `bad_length`, `not_utf8`. Throws `std::bad_alloc`.
std::expected<void, EnvelopeError> encode_envelope(std::string& out, const StreamId& stream,
                                                   const FrameView& frame);

/// Bytes of the length before each envelope in `encode_framed`.
inline constexpr std::size_t envelope_prefix = 4;

/// Appends the envelopes of all frames of `batch` to `out`, each after its length as an u32 in
/// little-endian order: the form that the TCP carrier sends, and a simple one for files. Errors,
/// with `out` untouched: `bad_length`, `not_utf8`. Throws `std::bad_alloc`.
std::expected<void, EnvelopeError> encode_framed(std::string& out, const FrameBatch& batch);

// Here, because handing a view back through memory costs more than reading the envelope.
inline std::expected<EnvelopeView, EnvelopeError> decode_envelope(std::string_view bytes) noexcept {
  constexpr std::size_t numbers = 8 + 8 + 4 + 4; // life, position, channel, length of the payload
  if (bytes.size() < 4)
    return std::unexpected(EnvelopeError::truncated);
  const std::size_t node_length = detail::load_little<std::uint32_t>(bytes.data());
  if (bytes.size() - 4 < node_length)
    return std::unexpected(EnvelopeError::truncated);
  const std::string_view node(bytes.data() + 4, node_length);
  if (!detail::is_utf8_name(node))
    return std::unexpected(EnvelopeError::not_utf8);
  const char* const at = node.data() + node_length;
  std::size_t left = bytes.size() - 4 - node_length;
  if (left < numbers)
    return std::unexpected(EnvelopeError::truncated);
  left -= numbers;
  const std::size_t payload_length = detail::load_little<std::uint32_t>(at + 20);
  if (left != payload_length)
    return std::unexpected(left < payload_length ? EnvelopeError::truncated
                                                 : EnvelopeError::trailing_bytes);
  return EnvelopeView{node,
                      {detail::load_little<std::uint64_t>(at)},
                      {detail::load_little<std::uint64_t>(at + 8)},
                      {detail::load_little<std::uint32_t>(at + 16)},
                      {at + numbers, payload_length}};
}

} // namespace datastream
