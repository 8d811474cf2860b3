#include <datastream/model/ids.hpp>

#include <charconv>
#include <chrono>
#include <ostream>
#include <random>
#include <system_error>

namespace datastream {

Lifetime fresh_life() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
  std::random_device random;
  return {static_cast<std::uint64_t>(milliseconds) << 10U | (random() & 0x3ffU)};
}

std::string to_string(const StreamId& stream) {
  return stream.node.value + '#' + std::to_string(stream.life.value);
}

std::optional<StreamId> parse_stream_id(std::string_view text) {
  const auto hash = text.rfind('#');
  if (hash == std::string_view::npos)
    return std::nullopt;
  const std::string_view digits = text.substr(hash + 1);
  Lifetime life;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), life.value);
  if (error != std::errc() || end != digits.data() + digits.size() ||
      (digits.size() > 1 && digits.front() == '0'))
    return std::nullopt;
  return StreamId{std::string(text.substr(0, hash)), life};
}

std::ostream& operator<<(std::ostream& out, const NodeId& node) {
  return out << node.value;
}

std::ostream& operator<<(std::ostream& out, Lifetime life) {
  return out << life.value;
}

std::ostream& operator<<(std::ostream& out, const StreamId& stream) {
  return out << to_string(stream);
}

std::ostream& operator<<(std::ostream& out, Position position) {
  return out << position.value;
}

std::ostream& operator<<(std::ostream& out, ChannelId channel) {
  return out << channel.value;
}

std::ostream& operator<<(std::ostream& out, SubscriptionId subscription) {
  return out << subscription.value;
}

} // namespace datastream
