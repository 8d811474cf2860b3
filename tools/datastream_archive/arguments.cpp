#include "arguments.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <system_error>

namespace datastream::tool {

namespace {

using namespace std::chrono;

/// Takes so many digits from the front.
std::optional<unsigned> take_digits(std::string_view& text, std::size_t count) {
  const auto value = parse_number(text.substr(0, count));
  if (text.size() < count || !value)
    return std::nullopt;
  text.remove_prefix(count);
  return static_cast<unsigned>(*value);
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c))
    return false;
  text.remove_prefix(1);
  return true;
}

std::optional<Time> time_ago(std::string_view text, Time now) {
  constexpr std::string_view units = "smhd";
  constexpr std::uint64_t seconds_of[] = {1, 60, 3600, 86'400};
  constexpr std::uint64_t longest = std::uint64_t{100} * 366 * seconds_of[3];
  if (text.empty())
    return std::nullopt;
  const auto unit = units.find(text.back());
  const auto count = parse_number(text.substr(0, text.size() - 1));
  if (unit == std::string_view::npos || !count || *count > longest / seconds_of[unit])
    return std::nullopt;
  return now - seconds(*count * seconds_of[unit]);
}

/// `.789` as a part of a second; nothing at all is none.
std::optional<microseconds> take_fraction(std::string_view& text) {
  microseconds fraction{0};
  if (!take(text, '.'))
    return fraction;
  if (text.empty() || text.front() < '0' || text.front() > '9')
    return std::nullopt;
  for (microseconds unit{100'000}; !text.empty() && text.front() >= '0' && text.front() <= '9';
       unit /= 10, text.remove_prefix(1))
    fraction += (text.front() - '0') * unit;
  return fraction;
}

} // namespace

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::optional<Time> parse_time(std::string_view text, Time now) {
  if (const auto ago = time_ago(text, now))
    return ago;
  const auto in_year = take_digits(text, 4);
  if (!in_year || !take(text, '-'))
    return std::nullopt;
  const auto in_month = take_digits(text, 2);
  if (!in_month || !take(text, '-'))
    return std::nullopt;
  const auto on_day = take_digits(text, 2);
  if (!on_day)
    return std::nullopt;
  const year_month_day date(year(static_cast<int>(*in_year)), month(*in_month), day(*on_day));
  // Of what the clock can say.
  if (!date.ok() || date.year() < year(1700) || date.year() > year(2200))
    return std::nullopt;
  Time time = sys_days(date);
  if (text.empty())
    return time;
  if (!take(text, 'T'))
    return std::nullopt;
  const auto hour = take_digits(text, 2);
  if (!hour || *hour > 23 || !take(text, ':'))
    return std::nullopt;
  const auto minute = take_digits(text, 2);
  if (!minute || *minute > 59)
    return std::nullopt;
  time += hours(*hour) + minutes(*minute);
  if (take(text, ':')) {
    const auto second = take_digits(text, 2);
    const auto fraction = take_fraction(text);
    if (!second || *second > 60)
      return std::nullopt;
    if (!fraction)
      return std::nullopt;
    time += seconds(*second) + *fraction;
  }
  take(text, 'Z');
  return text.empty() ? std::optional(time) : std::nullopt;
}

std::string to_text(Time time) {
  const auto since = floor<microseconds>(time);
  const auto days_since = floor<days>(since);
  const year_month_day date(days_since);
  const hh_mm_ss clock(since - days_since);
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ", int(date.year()),
                unsigned(date.month()), unsigned(date.day()), int(clock.hours().count()),
                int(clock.minutes().count()), int(clock.seconds().count()),
                int(clock.subseconds().count()));
  return text.data();
}

std::optional<PositionRange> parse_positions(std::string_view text) {
  PositionRange range;
  const auto dots = text.find("..");
  const std::string_view begin = text.substr(0, dots);
  const std::string_view end = dots == std::string_view::npos ? begin : text.substr(dots + 2);
  if (text == "..")
    return std::nullopt;
  if (!begin.empty()) {
    const auto lowest = parse_number(begin);
    if (!lowest)
      return std::nullopt;
    range.lowest.value = *lowest;
  }
  if (!end.empty() || begin.empty()) {
    const auto highest = parse_number(end);
    if (!highest)
      return std::nullopt;
    range.highest.value = *highest;
  }
  return range.lowest <= range.highest ? std::optional(range) : std::nullopt;
}

} // namespace datastream::tool
