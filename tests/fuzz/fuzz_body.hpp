#pragma once
/// What must hold when arbitrary bytes are a payload.

#include <datastream/model/utf8.hpp>
#include <datastream/record.hpp>
#include <datastream/views/body.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace datastream::fuzz {

struct Part {
  std::int8_t small = 0;
  std::optional<double> maybe;
};
DATASTREAM_RECORD(Part, small, maybe)

/// A record with a field of every type.
struct AnyRecord {
  static constexpr auto CHANNEL = "fuzz.any";
  bool flag = false;
  std::int64_t i = 0;
  std::uint32_t u = 0;
  float f = 0;
  double d = 0;
  std::string s;
  std::vector<Part> parts;
  std::map<std::string, bool> map;
  nlohmann::json any;
};
DATASTREAM_RECORD(AnyRecord, flag, i, u, f, d, s, parts, map, any)

inline bool is_raw(const Body& body, std::string_view payload) {
  return body == Body{body::Raw{payload}};
}

inline bool typed_body_holds(std::string_view payload) {
  const Body body = decode_body(ChannelKind::Typed, payload);
  if (!std::holds_alternative<body::Record>(body))
    return is_raw(body, payload);
  return decode_body(ChannelKind::Typed, to_string(body)) == body;
}

inline bool text_body_holds(std::string_view payload) {
  const Body body = decode_body(ChannelKind::Text, payload);
  return is_utf8(payload) ? body == Body{body::Text{payload}} : is_raw(body, payload);
}

inline bool record_holds(std::string_view payload) {
  const auto record = decode_record<AnyRecord>(payload);
  if (!record)
    return true;
  const std::string text = encode_record(*record);
  const auto again = decode_record<AnyRecord>(text);
  return again && encode_record(*again) == text;
}

inline bool body_holds(std::string_view payload) {
  return typed_body_holds(payload) && text_body_holds(payload) &&
         is_raw(decode_body(ChannelKind::Opaque, payload), payload) &&
         is_utf8(to_utf8_lossy(payload)) && record_holds(payload);
}

} // namespace datastream::fuzz
