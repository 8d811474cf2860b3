#include "../../tools/datastream_archive/arguments.hpp"
#include "../../tools/datastream_archive/printable.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace datastream;
using namespace datastream::tool;
using namespace std::chrono_literals;

TEST_CASE("times_are_read_as_they_are_written") {
  const Time now{1'764'460'800s}; // 2025-11-30
  CHECK(parse_time("2025-11-30", now) == now);
  CHECK(parse_time("2025-11-30T01:02", now) == now + 1h + 2min);
  CHECK(parse_time("2025-11-30T01:02:03", now) == now + 1h + 2min + 3s);
  CHECK(parse_time("2025-11-30T01:02:03.5Z", now) == now + 1h + 2min + 3500ms);
  CHECK(parse_time("2025-11-30T00:00:00.1234567Z", now) == now + 123'456us);
  CHECK(parse_time("90s", now) == now - 90s);
  CHECK(parse_time("10m", now) == now - 10min);
  CHECK(parse_time("2h", now) == now - 2h);
  CHECK(parse_time("1d", now) == now - 24h);
  for (const Time time : {now, now + 123'456us, Time{}, Time{-1us}, Time{-62'135us}})
    CHECK(parse_time(to_text(time), now) == time);
  CHECK(to_text(Time{-1us}) == "1969-12-31T23:59:59.999999Z");
}

TEST_CASE("what_is_no_time_is_none") {
  for (const char* text : {"",
                           "s",
                           "10",
                           "10w",
                           "-1s",
                           "1.5h",
                           "99999999999999999999s",
                           "99999999999d",
                           "2025",
                           "2025-11",
                           "2025-13-01",
                           "2025-02-30",
                           "2025-1-1",
                           "0000-01-01",
                           "9999-01-01",
                           "2025-11-30T",
                           "2025-11-30T1:00",
                           "2025-11-30T24:00",
                           "2025-11-30T00:60",
                           "2025-11-30T00",
                           "2025-11-30T00:00:",
                           "2025-11-30T00:00:61",
                           "2025-11-30T00:00:00.",
                           "2025-11-30 00:00",
                           "2025-11-30T00:00:00+01:00",
                           "2025-11-30T00:00ZZ",
                           "2025-11-30Z",
                           "now"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_time(text, Time{}));
  }
}

TEST_CASE("positions_are_read_as_a_range") {
  const auto range = [](const char* text) {
    const auto positions = parse_positions(text);
    return positions ? std::pair(positions->lowest.value, positions->highest.value)
                     : std::pair(std::uint64_t{1}, std::uint64_t{0});
  };
  CHECK(range("5..9") == std::pair<std::uint64_t, std::uint64_t>(5, 9));
  CHECK(range("5..5") == std::pair<std::uint64_t, std::uint64_t>(5, 5));
  CHECK(range("5..") == std::pair<std::uint64_t, std::uint64_t>(5, UINT64_MAX));
  CHECK(range("..9") == std::pair<std::uint64_t, std::uint64_t>(0, 9));
  CHECK(range("5") == std::pair<std::uint64_t, std::uint64_t>(5, 5));
  for (const char* text :
       {"", "..", "9..5", "-1", "a..b", "1...2", "1..2..3", " 1", "1.2", "18446744073709551616"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_positions(text));
  }
}

TEST_CASE("text_is_printed_so_that_a_terminal_only_shows_it") {
  CHECK(printable("plain \u00e4\u20ac\U0001f600 \\") == "plain \u00e4\u20ac\U0001f600 \\");
  CHECK(printable(std::string("\0\x1b\n\r\t\x7f", 6)) == "\\x00\\x1b\\n\\r\\t\\x7f");
  CHECK(printable("\u0080\u009f\u00a0") == "\\u0080\\u009f\u00a0");
  CHECK(printable("\u061c\u200e\u200f\u2028\u202e\u2066\u2069") ==
        "\\u061c\\u200e\\u200f\\u2028\\u202e\\u2066\\u2069");
  CHECK(printable("\xff\xc0\xaf\xe2\x82") == "\\xff\\xc0\\xaf\\xe2\\x82");
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");
}
