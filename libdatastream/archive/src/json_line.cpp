#include "json_line.hpp"

#include <datastream/model/json_document.hpp>

#include <array>
#include <cstdint>
#include <utility>

namespace datastream {

namespace {

template <class T>
using Parsed = std::expected<T, std::string>;

std::unexpected<std::string> bad(std::string_view key, std::string_view what) {
  return std::unexpected("`" + std::string(key) + "` " + std::string(what));
}

/// The members of an object that have these keys, in the order of the keys.
template <std::size_t N>
Parsed<std::array<std::optional<JsonValue>, N>>
members(JsonValue object, const std::array<std::string_view, N>& keys) {
  std::array<std::optional<JsonValue>, N> found;
  for (const auto& [key, value] : object.members())
    for (std::size_t i = 0; i < N; ++i)
      if (key == keys[i]) {
        if (found[i])
          return bad(key, "is there twice");
        found[i] = value;
      }
  return found;
}

template <class T>
Parsed<T> integer(std::optional<JsonValue> value, std::string_view key) {
  if (!value)
    return bad(key, "is not there");
  if (const auto number = value->as_integer<T>())
    return *number;
  return bad(key, "is no integer in its range");
}

/// An array of numbers as the bytes that they are.
Parsed<std::string> bytes(JsonValue value, std::string_view key) {
  if (!value.is_array())
    return bad(key, "is no array");
  std::string result;
  for (const JsonValue& item : value.items()) {
    const auto byte = item.as_integer<std::uint8_t>();
    if (!byte)
      return bad(key, "has something that is no byte");
    result += static_cast<char>(*byte);
  }
  return result;
}

/// A text, or the bytes that it stands for.
Parsed<std::string> text(std::optional<JsonValue> value, std::optional<JsonValue> exact,
                         std::string_view key) {
  if (exact)
    return bytes(*exact, key);
  if (!value)
    return bad(key, "is not there");
  if (const auto string = value->as_string())
    return std::string(*string);
  return bad(key, "is no text");
}

Parsed<std::string> payload(JsonValue value) {
  if (const auto string = value.as_string())
    return std::string(*string);
  if (!value.is_object())
    return bad("payload", "is neither a text nor an object");
  const auto found = members<2>(value, {"encoding", "value"});
  if (!found)
    return std::unexpected(found.error());
  const auto& [encoding, content] = *found;
  const auto name = encoding ? encoding->as_string() : std::nullopt;
  if (name == "utf8")
    return text(content, {}, "value");
  if (name == "bytes" && content)
    return bytes(*content, "value");
  return bad("payload", "has an encoding that is not known");
}

Parsed<std::chrono::system_clock::time_point> time_of(JsonValue value) {
  using Clock = std::chrono::system_clock;
  using std::chrono::milliseconds;
  constexpr auto earliest = std::chrono::ceil<milliseconds>(Clock::duration::min());
  constexpr auto latest = std::chrono::floor<milliseconds>(Clock::duration::max());
  const auto count = value.as_integer<std::int64_t>();
  if (!count || milliseconds(*count) < earliest || milliseconds(*count) > latest)
    return bad("arrival_unix_ms", "is no time");
  return Clock::time_point(milliseconds(*count));
}

} // namespace

std::string unknown_channel_name(ChannelId channel) {
  return "channel#" + std::to_string(channel.value);
}

std::expected<JsonLine, std::string> parse_json_line(std::string_view line) {
  const auto document = JsonDocument::parse(line);
  if (!document)
    return std::unexpected(document.error().message());
  const JsonValue root = document->root();
  if (!root.is_object())
    return std::unexpected("this is no object");
  const auto found = members<8>(root, {"stream", "stream_bytes", "channel", "channel_bytes",
                                       "channel_id", "position", "payload", "arrival_unix_ms"});
  if (!found)
    return std::unexpected(found.error());
  const auto& [stream_text, stream_bytes, channel_text, channel_bytes, id, place, content, time] =
      *found;

  const auto stream_name = text(stream_text, stream_bytes, "stream");
  if (!stream_name)
    return std::unexpected(stream_name.error());
  auto stream = parse_stream_id(*stream_name);
  if (!stream)
    return bad("stream", "is not a node, a `#` and a life");
  auto name = text(channel_text, channel_bytes, "channel");
  if (!name)
    return std::unexpected(name.error());
  const auto channel = integer<std::uint32_t>(id, "channel_id");
  if (!channel)
    return std::unexpected(channel.error());
  const auto position = integer<std::uint64_t>(place, "position");
  if (!position)
    return std::unexpected(position.error());
  if (!content)
    return bad("payload", "is not there");
  auto bytes = payload(*content);
  if (!bytes)
    return std::unexpected(bytes.error());

  JsonLine result{std::move(*stream), {}, {{*channel}, {*position}, std::move(*bytes)}, {}};
  if (*name != unknown_channel_name(result.frame.channel))
    result.channel = std::move(*name);
  if (time) {
    const auto arrival = time_of(*time);
    if (!arrival)
      return std::unexpected(arrival.error());
    result.arrival = *arrival;
  }
  return result;
}

} // namespace datastream
