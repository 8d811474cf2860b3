#pragma once
/// One line of JSON as a frame.

#include <datastream/model/frame.hpp>
#include <datastream/model/ids.hpp>

#include <chrono>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace datastream {

struct JsonLine {
  StreamId stream;
  std::optional<std::string> channel; ///< its name, if it is known
  Frame frame;
  std::optional<std::chrono::system_clock::time_point> arrival;
};

/// What is written for a channel whose name is not known: `channel#3`.
std::string unknown_channel_name(ChannelId channel);

/// Reads a line, without its end, in either form. Error: for people. Throws `std::bad_alloc`.
std::expected<JsonLine, std::string> parse_json_line(std::string_view line);

} // namespace datastream
