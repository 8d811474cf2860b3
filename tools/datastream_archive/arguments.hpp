#pragma once
/// Words of the command line as what they mean. Nothing: the word means nothing.

#include <datastream/model/ids.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace datastream::tool {

using Time = std::chrono::system_clock::time_point;

/// `2025-11-30`, `2025-11-30T12:34`, `2025-11-30T12:34:56.789Z`, in UTC; or `90s`, `10m`, `2h`,
/// `1d` ago.
std::optional<Time> parse_time(std::string_view text, Time now);

/// `2025-11-30T12:34:56.789000Z`
std::string to_text(Time time);

/// Decimal digits, and nothing else.
std::optional<std::uint64_t> parse_number(std::string_view text);

struct PositionRange {
  Position lowest{0};
  Position highest{UINT64_MAX};
};
/// `5..9`, `5..`, `..9` or `5`.
std::optional<PositionRange> parse_positions(std::string_view text);

} // namespace datastream::tool
