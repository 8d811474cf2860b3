#pragma once
/// The legacy envelope as the specification words it: bytes in a vector, decoded into values that
/// own what they hold.

#include "reference/simple/frame.hpp"

#include <datastream/model/utf8.hpp>

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <span>
#include <string>
#include <string_view>

namespace reference::simple {

struct Delivery {
  StreamId stream;
  Frame frame;
};

enum class EnvelopeError { truncated, not_utf8, trailing_bytes };

static_assert(std::endian::native == std::endian::little, "integers are stored as they lie");

template <std::unsigned_integral Integer>
void append(Bytes& out, Integer value) {
  const auto bytes = std::bit_cast<std::array<std::uint8_t, sizeof value>>(value);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

inline Bytes encode(const StreamId& stream, const Frame& frame) {
  Bytes out;
  out.reserve(28 + stream.node.size() + frame.payload.size());
  append(out, static_cast<std::uint32_t>(stream.node.size()));
  out.insert(out.end(), stream.node.begin(), stream.node.end());
  append(out, stream.life);
  append(out, frame.position);
  append(out, frame.channel);
  append(out, static_cast<std::uint32_t>(frame.payload.size()));
  out.insert(out.end(), frame.payload.begin(), frame.payload.end());
  return out;
}

/// Takes fields from the front of an envelope.
class Cursor {
public:
  explicit Cursor(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  template <std::unsigned_integral Integer>
  bool read(Integer& value) {
    if (rest_.size() < sizeof value)
      return false;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return true;
  }

  /// Bytes after their length.
  bool read(std::span<const std::uint8_t>& bytes) {
    std::uint32_t length = 0;
    if (!read(length) || rest_.size() < length)
      return false;
    bytes = rest_.first(length);
    rest_ = rest_.subspan(length);
    return true;
  }

  bool at_end() const { return rest_.empty(); }

private:
  std::span<const std::uint8_t> rest_;
};

inline std::expected<Delivery, EnvelopeError> decode(std::span<const std::uint8_t> bytes) {
  Cursor cursor(bytes);
  Delivery delivery;
  std::span<const std::uint8_t> field;
  if (!cursor.read(field))
    return std::unexpected(EnvelopeError::truncated);
  delivery.stream.node.assign(reinterpret_cast<const char*>(field.data()), field.size());
  if (!datastream::is_utf8(delivery.stream.node))
    return std::unexpected(EnvelopeError::not_utf8);
  if (!cursor.read(delivery.stream.life) || !cursor.read(delivery.frame.position) ||
      !cursor.read(delivery.frame.channel) || !cursor.read(field))
    return std::unexpected(EnvelopeError::truncated);
  delivery.frame.payload.assign(field.begin(), field.end());
  if (!cursor.at_end())
    return std::unexpected(EnvelopeError::trailing_bytes);
  return delivery;
}

} // namespace reference::simple
