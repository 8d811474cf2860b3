#pragma once
/// A payload, decoded: the one place where this library looks inside of payloads
/// (specification 5.4, 8).

#include <datastream/views/channel_classifier.hpp>

#include <nlohmann/json.hpp>

#include <iosfwd>
#include <string>
#include <string_view>
#include <variant>

namespace datastream {

namespace body {
/// Bytes that nobody claims to understand, or that are not what their channel promises.
struct Raw {
  std::string_view bytes;
  friend bool operator==(const Raw&, const Raw&) = default;
};
/// UTF-8 text, just as it was submitted: no lines are cut, no escape sequences interpreted.
struct Text {
  std::string_view text;
  friend bool operator==(const Text&, const Text&) = default;
};
/// Any JSON value, also a scalar. Of members with the same key the last one counts.
struct Record {
  nlohmann::json value;
  friend bool operator==(const Record&, const Record&) = default;
};
} // namespace body

/// `Raw` and `Text` refer to the payload and must not outlive it.
using Body = std::variant<body::Raw, body::Text, body::Record>;

/// Decodes a payload as its channel's kind says. Never fails: a typed payload that is not JSON (or
/// is nested more than `defaults::json_depth` levels), and text that is not UTF-8, come out raw.
Body decode_body(ChannelKind kind, std::string_view payload);

/// For people: compact JSON, the text itself, or `<5 opaque bytes>`.
std::string to_string(const Body& body);
std::ostream& operator<<(std::ostream& out, const Body& body);

} // namespace datastream
