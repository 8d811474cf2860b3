#include <datastream/views/lines.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <string>
#include <vector>

#include <stream_of.hpp>

using namespace datastream;

namespace {

constexpr ChannelId out{1};
constexpr ChannelId err{2};

std::vector<LineEntry> entries(const Lines& range) {
  std::vector<LineEntry> result;
  for (const LineEntry& entry : range)
    result.push_back(entry);
  return result;
}

using Entries = std::vector<LineEntry>;

} // namespace

static_assert(std::ranges::input_range<Lines>);
static_assert(std::ranges::view<Lines>);

TEST_CASE("lines_of_a_channel_join_its_chunks_across_those_of_others") {
  const StoredStream stream = stream_of({{out, {0}, "one\ntw"},
                                         {err, {1}, "failed: "},
                                         {out, {2}, "o\n"},
                                         {err, {3}, "disk\n"},
                                         {out, {4}, "three"}});
  CHECK(entries(lines(stream, out)) == Entries{Line{{0}, {0}, "one", LineEnd::newline},
                                               Line{{0}, {2}, "two", LineEnd::newline},
                                               Line{{4}, {4}, "three", LineEnd::open}});
  CHECK(entries(lines(stream, err)) == Entries{Line{{1}, {3}, "failed: disk", LineEnd::newline}});
  CHECK(entries(lines(stream, {3})).empty());
  CHECK(entries(lines(stream_of({}), out)).empty());
}

TEST_CASE("a_line_is_not_joined_over_a_gap_and_every_gap_is_shown") {
  const StoredStream stream = stream_of({{out, {0}, "first half"},
                                         {out, {3}, "another half\n"},
                                         {err, {6}, "x"},
                                         {out, {9}, "end\n"}});
  CHECK(entries(lines(stream, out)) ==
        Entries{Line{{0}, {0}, "first half", LineEnd::gap}, GapSpan{{1}, {2}},
                Line{{3}, {3}, "another half", LineEnd::newline}, GapSpan{{4}, {5}},
                GapSpan{{7}, {8}}, Line{{9}, {9}, "end", LineEnd::newline}});
}

TEST_CASE("lines_show_what_retention_has_removed") {
  const StoredStream stream =
      stream_of({{out, {0}, "gone\n"}, {out, {1}, "kept\n"}}, {.frames = 1});
  CHECK(entries(lines(stream, out)) ==
        Entries{EvictedRange{{1}, 1, 5}, Line{{1}, {1}, "kept", LineEnd::newline}});
}

TEST_CASE("lines_may_begin_anywhere_also_inside_of_a_line") {
  const StoredStream stream = stream_of({{out, {0}, "a"}, {out, {1}, "b\nc\n"}, {out, {5}, "d\n"}});
  CHECK(entries(lines(stream, out, {}, {1})) ==
        Entries{Line{{1}, {1}, "b", LineEnd::newline}, Line{{1}, {1}, "c", LineEnd::newline},
                GapSpan{{2}, {4}}, Line{{5}, {5}, "d", LineEnd::newline}});
  CHECK(entries(lines(stream, out, {}, {6})).empty());
}

TEST_CASE("lines_take_the_options_of_the_splitter") {
  const StoredStream stream = stream_of({{out, {0}, "1%\r\x1b[1m2%\n"}});
  CHECK(entries(lines(stream, out)) == Entries{Line{{0}, {0}, "2%", LineEnd::newline}});
  CHECK(entries(lines(stream, out, {.keep_overwritten = true, .keep_escapes = true})) ==
        Entries{Line{{0}, {0}, "1%", LineEnd::overwritten},
                Line{{0}, {0}, "\x1b[1m2%", LineEnd::newline}});
}

TEST_CASE("lines_do_not_depend_on_the_order_of_arrival") {
  CHECK(rc::check([] {
    std::vector<Frame> frames;
    for (const auto& text : *rc::gen::container<std::vector<std::string>>(
             rc::gen::element<std::string>("a", "b\n", "\r", "\n", "", "\x1b[", "m")))
      frames.push_back({{*rc::gen::inRange(1U, 3U)}, {frames.size()}, text});
    std::erase_if(frames, [](const Frame&) { return *rc::gen::inRange(0, 10) == 0; });
    const auto expected = entries(lines(stream_of(frames), out));
    std::vector<Frame> shuffled = frames;
    for (std::size_t i = shuffled.size(); i > 1; --i)
      std::swap(shuffled[i - 1], shuffled[*rc::gen::inRange<std::size_t>(0, i)]);
    RC_ASSERT(entries(lines(stream_of(shuffled), out)) == expected);

    // Every gap of the stream is an entry, in order.
    const StoredStream stream = stream_of(frames);
    std::vector<GapSpan> gaps;
    for (const LineEntry& entry : expected)
      if (const auto* gap = std::get_if<GapSpan>(&entry))
        gaps.push_back(*gap);
    RC_ASSERT(std::ranges::equal(gaps, stream.gaps()));
  }));
}
