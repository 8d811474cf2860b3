#include <datastream/views/merged_log.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <ranges>
#include <string>
#include <vector>

#include <stream_of.hpp>

using namespace datastream;

namespace {

template <std::ranges::range Log>
std::vector<std::string> lines(const Log& log) {
  std::vector<std::string> result;
  for (const LogEntry& entry : log)
    result.push_back(to_string(entry));
  return result;
}

using Lines = std::vector<std::string>;

ChannelKind classify(std::string_view name) {
  return name == "load"  ? ChannelKind::Typed
         : name == "log" ? ChannelKind::Text
                         : ChannelKind::Opaque;
}

std::optional<std::string_view> resolve(ChannelId channel) {
  switch (channel.value) {
  case 1:
    return "load";
  case 2:
    return "log";
  case 3:
    return "blob";
  default:
    return std::nullopt;
  }
}

} // namespace

static_assert(std::ranges::forward_range<decltype(merged_log(std::declval<StoredStream&>()))>);
static_assert(std::ranges::view<decltype(merged_log(std::declval<StoredStream&>()))>);
static_assert(std::is_trivially_copyable_v<LogEntry>);

TEST_CASE("a_merged_log_shows_frames_in_position_order_and_the_gaps_between_them") {
  const StoredStream stream = stream_of({{{2}, {5}, "five"}, {{1}, {1}, "one"}, {{1}, {2}, "two"}});
  CHECK(lines(merged_log(stream)) == Lines{"#1 [1] <3 opaque bytes>", "#2 [1] <3 opaque bytes>",
                                           "#3    --- 2 missing ---", "#5 [2] <4 opaque bytes>"});
}

TEST_CASE("a_merged_log_shows_no_gap_before_the_first_frame_or_after_the_last") {
  StoredStream stream = stream_of({{{1}, {10}, "x"}});
  stream.expect_from({0});
  stream.expect_until(20);
  CHECK(lines(merged_log(stream)) == Lines{"#10 [1] <1 opaque bytes>"});
}

TEST_CASE("a_merged_log_of_nothing_is_empty") {
  CHECK(lines(merged_log(stream_of({}))).empty());
}

TEST_CASE("a_merged_log_shows_the_same_gaps_as_the_stream") {
  std::vector<Frame> frames;
  for (std::uint64_t position = 0; position < 1000; position += 1 + position % 7)
    frames.push_back({{1}, {position}, ""});
  const StoredStream stream = stream_of(frames);
  std::vector<GapSpan> gaps;
  std::size_t count = 0;
  for (const LogEntry& entry : merged_log(stream)) {
    if (const auto* gap = std::get_if<GapSpan>(&entry))
      gaps.push_back(*gap);
    else
      ++count;
  }
  std::vector<GapSpan> expected;
  for (const GapSpan& gap : stream.gaps())
    expected.push_back(gap);
  CHECK(expected.size() > 100);
  CHECK((gaps == expected));
  CHECK(count == frames.size());
}

TEST_CASE("a_merged_log_shows_one_gap_between_the_extreme_positions") {
  const std::uint64_t highest = std::numeric_limits<std::uint64_t>::max();
  const StoredStream stream = stream_of({{{1}, {highest}, ""}, {{1}, {0}, ""}});
  std::vector<LogEntry> entries;
  for (const LogEntry& entry : merged_log(stream))
    entries.push_back(entry);
  REQUIRE(entries.size() == 3);
  CHECK((std::get<GapSpan>(entries[1]) == GapSpan{{1}, {highest - 1}}));
  CHECK(std::get<LogFrame>(entries[2]).frame.position == Position{highest});
}

TEST_CASE("a_merged_log_begins_with_what_was_evicted_and_does_not_call_it_a_gap") {
  const StoredStream stream = stream_of(
      {{{1}, {0}, "a"}, {{1}, {1}, "b"}, {{1}, {2}, "c"}, {{1}, {4}, "d"}}, {.frames = 2});
  CHECK(lines(merged_log(stream)) == Lines{"#0    --- 2 evicted ---", "#2 [1] <1 opaque bytes>",
                                           "#3    --- 1 missing ---", "#4 [1] <1 opaque bytes>"});
}

TEST_CASE("a_merged_log_shows_the_gap_behind_what_was_evicted_and_counts_those_within_it") {
  StoredStream stream{{"n", {1}}, {.frames = 2}};
  for (const std::uint64_t position : {0, 3, 10, 12})
    stream.accept(FrameView{{1}, {position}, "x", {}});
  const Lines rest{"#4    --- 6 missing ---", "#10 [1] <1 opaque bytes>", "#11   --- 1 missing ---",
                   "#12 [1] <1 opaque bytes>"};
  Lines whole{"#0    --- 2 evicted, 2 missing between them ---"};
  whole.insert(whole.end(), rest.begin(), rest.end());
  CHECK(lines(merged_log(stream)) == whole);
  CHECK(lines(merged_log(stream, {3})) == whole);
  CHECK(lines(merged_log(stream, {4})) == rest);
  CHECK(lines(merged_log(stream, {6})).front() == "#6    --- 4 missing ---");
  CHECK(lines(merged_log(stream, {10})).front() == rest[1]);
  CHECK(lines(merged_log(stream, {13})).empty());
}

TEST_CASE("a_merged_log_of_a_stream_that_was_evicted_as_a_whole_shows_that") {
  const StoredStream stream = stream_of({{{1}, {0}, "a"}}, {.frames = 0});
  REQUIRE(stream.empty());
  CHECK(lines(merged_log(stream)) == Lines{"#0    --- 1 evicted ---"});
}

TEST_CASE("a_merged_log_with_names_decodes_known_channels_and_keeps_gaps") {
  const StoredStream stream = stream_of({{{1}, {0}, R"({ "queue" : 3 })"}, {{2}, {2}, "hello"}});
  CHECK(lines(merged_log_with_names(stream, classify, resolve)) ==
        Lines{R"(#0 [load] {"queue":3})", "#1    --- 1 missing ---", "#2 [log] hello"});
}

TEST_CASE("a_merged_log_with_names_degrades_to_raw_one_frame_at_a_time") {
  const StoredStream stream = stream_of({{{1}, {0}, "not json"},
                                         {{2}, {1}, "\xff"},
                                         {{3}, {2}, "blob"},
                                         {{9}, {3}, R"({"unnamed":1})"},
                                         {{2}, {4}, "still here"}});
  CHECK(lines(merged_log_with_names(stream, classify, resolve)) ==
        Lines{"#0 [load] <8 opaque bytes>", "#1 [log] <1 opaque bytes>",
              "#2 [blob] <4 opaque bytes>", "#3 [9] <13 opaque bytes>", "#4 [log] still here"});
}

TEST_CASE("a_merged_log_can_be_walked_again_and_from_the_middle") {
  const StoredStream stream = stream_of({{{1}, {0}, "a"}, {{1}, {2}, "b"}});
  const auto log = merged_log(stream);
  CHECK(lines(log) == lines(log));
  auto middle = log.begin();
  const auto at_gap = ++middle;
  ++middle;
  CHECK(std::holds_alternative<GapSpan>(*at_gap));
  CHECK(std::holds_alternative<LogFrame>(*middle));
  CHECK(at_gap != middle);
}

TEST_CASE("a_merged_log_copies_no_payload") {
  const StoredStream stream = stream_of({{{1}, {0}, "payload"}});
  const LogEntry entry = *merged_log(stream).begin();
  CHECK(std::get<LogFrame>(entry).frame.payload.data() == stream.at({0})->payload.data());
}

TEST_CASE("a_replay_is_the_raw_timeline") {
  const StoredStream stream = stream_of({{{1}, {0}, "a"}, {{2}, {2}, "b"}});
  CHECK(lines(replay(stream)) == lines(merged_log(stream)));
}

TEST_CASE("reincarnations_have_logs_of_their_own") {
  StoredStream first{{"node-a", {1}}};
  StoredStream second{{"node-a", {2}}};
  first.accept(FrameView{{1}, {0}, "old", {}});
  second.accept(FrameView{{1}, {1}, "younger", {}});
  CHECK(lines(merged_log(first)) == Lines{"#0 [1] <3 opaque bytes>"});
  CHECK(lines(merged_log(second)) == Lines{"#1 [1] <7 opaque bytes>"});
}

TEST_CASE("a_log_from_the_middle_shows_the_rest_of_a_gap_and_nothing_before_the_first_frame") {
  StoredStream stream{{"n", {1}}};
  for (const std::uint64_t position : {3, 4, 9, 10})
    stream.accept(FrameView{{1}, {position}, "x", {}});
  const auto shape = [&](Position from) {
    std::string text;
    for (const LogEntry& entry : merged_log(stream, from))
      text += to_string(entry) + '\n';
    return text;
  };
  CHECK(shape({0}) == shape({3}));
  CHECK(shape({1}) == shape({3}));
  CHECK(shape({5}) ==
        "#5    --- 4 missing ---\n#9 [1] <1 opaque bytes>\n#10 [1] <1 opaque bytes>\n");
  CHECK(shape({7}) ==
        "#7    --- 2 missing ---\n#9 [1] <1 opaque bytes>\n#10 [1] <1 opaque bytes>\n");
  CHECK(shape({9}) == "#9 [1] <1 opaque bytes>\n#10 [1] <1 opaque bytes>\n");
  CHECK(shape({11}).empty());
}
