#pragma once
/// What a channel carries, as its producer declares it (specification 2.4, 5.4). Catalog metadata:
/// the pipe never looks into a payload to check it.

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace datastream {

/// Arbitrary bytes.
struct Bytes {
  friend bool operator==(const Bytes&, const Bytes&) = default;
};

/// Chunks of text, meant to be UTF-8. A chunk may end in the middle of a line or of a character.
struct TextStream {
  friend bool operator==(const TextStream&, const TextStream&) = default;
};

/// One JSON document per frame.
struct JsonRecord {
  std::optional<std::string> schema; ///< names the record type; catalog metadata, no version
  friend bool operator==(const JsonRecord&, const JsonRecord&) = default;
};

/// The content class of a channel. Two contents are equal only with equal schemas.
using ChannelContent = std::variant<Bytes, TextStream, JsonRecord>;

/// `ChannelContent` without the schema; in the order of the variant's alternatives.
enum class ChannelContentKind { Bytes, TextStream, JsonRecord };

inline ChannelContentKind kind_of(const ChannelContent& content) {
  return static_cast<ChannelContentKind>(content.index());
}

std::string_view to_string(ChannelContentKind kind);

} // namespace datastream
