#include <datastream/model/utf8.hpp>
#include <datastream/views/line_splitter.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace datastream;
using namespace std::string_literals;

namespace {

std::vector<Line> split(const std::vector<std::string>& chunks, LineOptions options = {}) {
  LineSplitter splitter(options);
  std::vector<Line> lines;
  Line line;
  std::uint64_t position = 0;
  for (const std::string& chunk : chunks) {
    std::string_view rest = chunk;
    while (splitter.next({position}, rest, line))
      lines.push_back(line);
    ++position;
  }
  if (splitter.finish(LineEnd::open, line))
    lines.push_back(line);
  return lines;
}

using Texts = std::vector<std::pair<std::string, LineEnd>>;

Texts texts(const std::vector<Line>& lines) {
  Texts result;
  for (const Line& line : lines)
    result.emplace_back(line.text, line.end);
  return result;
}

Texts texts_of(const std::string& output, LineOptions options = {}) {
  return texts(split({output}, options));
}

constexpr auto newline = LineEnd::newline;
constexpr auto overwritten = LineEnd::overwritten;
constexpr auto piece = LineEnd::split;
constexpr auto open = LineEnd::open;

/// What a program may print, made of the parts that matter, in any order.
rc::Gen<std::string> output() {
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
                          "\n", "\n", "\r", "\r\n", "\0"s, "a", "bcdefghijklmnop", "\xC3\xA4",
                          "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xF0", "\x9F", "\x1b", "[", "]",
                          "\x1b[1;32m", "\x1b]0;title\a", "\x1b]8;;x\x1b\\", "\x1bP", "m", "\x18")),
                      [](const std::vector<std::string>& parts) {
                        std::string text;
                        for (const std::string& part : parts)
                          text += part;
                        return text;
                      });
}

rc::Gen<LineOptions> line_options() {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::arbitrary<bool>(), rc::gen::arbitrary<bool>(),
                     rc::gen::element<std::size_t>(0, 17, 40, 1000)),
      [](const auto& t) { return LineOptions{std::get<0>(t), std::get<1>(t), std::get<2>(t)}; });
}

/// Where `text` is cut, as the number of the chunk of each byte.
struct Cut {
  std::vector<std::string> chunks;
  std::vector<std::uint64_t> chunk_of;
};
Cut cut(const std::string& text, const std::vector<bool>& places) {
  Cut result;
  result.chunks.emplace_back();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i < places.size() && places[i])
      result.chunks.emplace_back();
    result.chunks.back() += text[i];
    result.chunk_of.push_back(result.chunks.size() - 1);
  }
  return result;
}

/// The lines of a whole text without escapes and without a bound, made in another way.
Texts reference(std::string text, bool keep_overwritten) {
  Texts lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const bool ended = end != std::string::npos;
    std::string line = text.substr(0, end);
    text.erase(0, ended ? end + 1 : text.size());
    while (line.ends_with('\r'))
      line.pop_back();
    for (auto cr = line.find('\r'); cr != std::string::npos; cr = line.find('\r')) {
      if (keep_overwritten && cr > 0)
        lines.emplace_back(line.substr(0, cr), overwritten);
      line.erase(0, cr + 1);
    }
    if (ended || !line.empty())
      lines.emplace_back(line, ended ? newline : open);
  }
  return lines;
}

} // namespace

TEST_CASE("lines_end_with_lf_or_cr_lf_and_the_last_one_may_not_end") {
  CHECK(texts_of("one\ntwo\r\n\nthree") ==
        Texts{{"one", newline}, {"two", newline}, {"", newline}, {"three", open}});
  CHECK(texts_of("one\n") == Texts{{"one", newline}});
  CHECK(texts_of("").empty());
}

TEST_CASE("of_a_line_that_is_overwritten_the_last_state_is_shown_or_all") {
  const std::string bar = "10%\r50%\r100%\r\nnext\r";
  CHECK(texts_of(bar) == Texts{{"100%", newline}, {"next", open}});
  CHECK(texts_of(bar, {.keep_overwritten = true}) ==
        Texts{{"10%", overwritten}, {"50%", overwritten}, {"100%", newline}, {"next", open}});
  CHECK(texts_of("a\r\r\nb\r\rc\n") == Texts{{"a", newline}, {"c", newline}});
}

TEST_CASE("a_carriage_return_shows_the_state_it_ends_until_something_is_written_over_it") {
  CHECK(texts(split({"50%\r"})) == Texts{{"50%", open}});
  CHECK(texts(split({"50%\r", "60%"})) == Texts{{"60%", open}});
  CHECK(texts(split({"50%\r", "\n"})) == Texts{{"50%", newline}});
}

TEST_CASE("nul_and_bytes_that_are_no_text_stay_as_they_are") {
  CHECK(texts_of("a\0b\n\xff\xfe\n"s) == Texts{{"a\0b"s, newline}, {"\xff\xfe", newline}});
}

TEST_CASE("a_character_that_was_cut_between_two_reads_is_whole") {
  const auto lines = split({"gr\xC3", "\xBC\xC3\x9F", "e\n"});
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].text == "gr\xC3\xBC\xC3\x9F"s + "e");
  CHECK(lines[0].first == Position{0});
  CHECK(lines[0].last == Position{2});
}

TEST_CASE("escape_sequences_are_left_out_or_kept") {
  const std::string colour =
      "\x1b[1;31merror\x1b[0m: \x1b]8;;http://x\x1b\\link\x1b]8;;\a\x1b(B!\n";
  CHECK(texts_of(colour) == Texts{{"error: link!", newline}});
  CHECK(texts_of(colour, {.keep_escapes = true}) ==
        Texts{{colour.substr(0, colour.size() - 1), newline}});
  CHECK(texts(split({"\x1b", "[", "3", "1", "mred\x1b", "]0;ti", "tle\x1b", "\\\n"})) ==
        Texts{{"red", newline}});
}

TEST_CASE("every_kind_of_escape_sequence_is_left_out") {
  for (const char* sequence : {"\x1b[m",
                               "\x1b[?25l",
                               "\x1b[2K",
                               "\x1b[38;2;1;2;3m",
                               "\x1b[1 q",
                               "\x1b]0;title\x07",
                               "\x1b]0;title\x1b\\",
                               "\x1bPq#0\x1b\\",
                               "\x1bXtext\x1b\\",
                               "\x1b^text\x1b\\",
                               "\x1b_text\x1b\\",
                               "\x1b(B",
                               "\x1b 7",
                               "\x1b=",
                               "\x1bM",
                               "\x1b[12\x18",
                               "\x1b]0;x\x1a",
                               "\x1b\x1b[1m",
                               "\x1b]0;title\x1b[1m",
                               "\x1b[1;\x1b[1m",
                               "\x1b]0;\x1b\x1b\\",
                               "\x1b]0;caf\xC3\xA9\x07"}) {
    CAPTURE(std::string(sequence + 1));
    CHECK(texts_of("a"s + sequence + "b\n") == Texts{{"ab", newline}});
  }
}

TEST_CASE("an_escape_sequence_that_breaks_off_takes_nothing_of_the_next_line") {
  for (const char* sequence : {"\x1b", "\x1b[", "\x1b[1;", "\x1b]0;swallowed", "\x1bPx", "\x1b(",
                               "\x1b]0;swallowed\x1b"}) {
    CAPTURE(std::string(sequence + 1));
    CHECK(texts_of("a"s + sequence + "\nb\n") == Texts{{"a", newline}, {"b", newline}});
    CHECK(texts_of("a"s + sequence + "\rb\n") == Texts{{"b", newline}});
  }
  CHECK(texts_of("a\x1b[\xC3\xA9x\x1b\xC3\xA9\n") == Texts{{"a\xC3\xA9x\xC3\xA9", newline}});
}

TEST_CASE("escape_sequences_between_cr_and_lf_overwrite_nothing") {
  CHECK(texts_of("done\r\x1b[K\n") == Texts{{"done", newline}});
  CHECK(texts_of("50%\r\x1b[K100%\n") == Texts{{"100%", newline}});
}

TEST_CASE("a_line_of_just_the_bound_is_whole_and_a_longer_one_is_split") {
  const std::string exact(defaults::line_bytes, 'x');
  CHECK(texts_of(exact + "\n") == Texts{{exact, newline}});
  CHECK(texts_of(exact + "\r\n") == Texts{{exact, newline}});
  CHECK(texts_of(exact) == Texts{{exact, open}});
  CHECK(texts_of(exact + "y\n") == Texts{{exact, piece}, {"y", newline}});
  CHECK(texts_of(exact + exact + "\n") == Texts{{exact, piece}, {exact, newline}});
  CHECK(texts_of(exact + "\x1b[0m\n") == Texts{{exact, newline}});
}

TEST_CASE("a_line_is_not_split_inside_of_a_character") {
  const std::string euro = "\xE2\x82\xAC";
  for (std::size_t before = 0; before < 6; ++before) {
    std::string text(before, 'x');
    for (int i = 0; i < 20; ++i)
      text += euro;
    std::string joined;
    for (const Line& line : split({text}, {.bytes = 16})) {
      CHECK(is_utf8(line.text));
      CHECK(line.text.size() <= 16);
      joined += line.text;
    }
    CHECK(joined == text);
  }
  // Bytes that are no characters are split anywhere.
  CHECK(texts_of(std::string(17, '\x80'), {.bytes = 16}) ==
        Texts{{std::string(16, '\x80'), piece}, {"\x80", open}});
}

TEST_CASE("the_rest_of_a_split_line_begins_with_the_frame_of_its_first_byte") {
  const auto lines = split({"0123456789abcd\xE2", "\x82", "\xAC!"}, {.bytes = 16});
  REQUIRE(texts(lines) == Texts{{"0123456789abcd", piece}, {"\xE2\x82\xAC!", open}});
  CHECK(lines[1].first == Position{0});
  CHECK(lines[1].last == Position{2});
}

TEST_CASE("the_bound_of_a_line_is_at_least_sixteen_bytes") {
  CHECK(texts_of("0123456789abcdefg", {.bytes = 0}) ==
        Texts{{"0123456789abcdef", piece}, {"g", open}});
}

TEST_CASE("hostile_output_costs_one_pass_and_no_memory_beyond_the_bound") {
  const std::size_t size = 4U << 20U;
  for (const LineOptions options : {LineOptions{}, LineOptions{true, true}}) {
    for (const std::string& unit : {"\r"s, "\x1b"s, "\x1b]"s, "\x80"s, "x\r"s, "\n"s}) {
      std::string text = "\x1b]";
      while (text.size() < size)
        text += unit;
      LineSplitter splitter(options);
      Line line;
      std::string_view rest = text;
      std::size_t bytes = 0;
      std::size_t capacity = 0;
      while (splitter.next({0}, rest, line)) {
        capacity = std::max(capacity, line.text.capacity());
        bytes += line.text.size();
      }
      CHECK(capacity <= 2 * defaults::line_bytes);
      CHECK(bytes <= text.size());
    }
  }
}

TEST_CASE("after_a_gap_nothing_of_the_line_before_is_remembered") {
  LineSplitter splitter;
  Line line;
  for (const char* before : {"half a line", "50%\r", "x\x1b]0;title", "x\x1b["}) {
    std::string_view rest = before;
    REQUIRE_FALSE(splitter.next({0}, rest, line));
    REQUIRE(splitter.finish(LineEnd::gap, line));
    CHECK(line.end == LineEnd::gap);
    rest = "1mbel\n";
    REQUIRE(splitter.next({5}, rest, line));
    CHECK(line == Line{{5}, {5}, "1mbel", newline});
  }
  CHECK_FALSE(splitter.finish(LineEnd::gap, line));
}

TEST_CASE("every_end_of_a_line_has_a_name") {
  CHECK(to_string(LineEnd::newline) == "newline");
  CHECK(to_string(LineEnd::overwritten) == "overwritten");
  CHECK(to_string(LineEnd::split) == "split");
  CHECK(to_string(LineEnd::gap) == "gap");
  CHECK(to_string(LineEnd::open) == "open");
}

TEST_CASE("lines_are_the_same_wherever_the_output_is_cut") {
  CHECK(rc::check([] {
    const std::string text = *output();
    const LineOptions options = *line_options();
    const Cut pieces =
        cut(text, *rc::gen::container<std::vector<bool>>(text.size(), rc::gen::arbitrary<bool>()));
    const Cut bytes = cut(text, std::vector<bool>(text.size(), true));
    // One byte a frame: positions are offsets, but for the empty chunk in front.
    std::vector<Line> expected = split(bytes.chunks, options);
    for (Line& line : expected) {
      line.first.value = pieces.chunk_of[line.first.value - 1];
      line.last.value = pieces.chunk_of[line.last.value - 1];
    }
    RC_ASSERT(split(pieces.chunks, options) == expected);
    RC_ASSERT(texts_of(text, options) == texts(expected));
  }));
}

TEST_CASE("lines_are_those_of_a_simple_reference") {
  CHECK(rc::check([] {
    const std::string text = *output();
    const bool keep_overwritten = *rc::gen::arbitrary<bool>();
    RC_ASSERT(texts_of(text, {.keep_overwritten = keep_overwritten, .keep_escapes = true}) ==
              reference(text, keep_overwritten));
  }));
}

TEST_CASE("no_byte_of_text_is_lost_by_splitting") {
  CHECK(rc::check([] {
    const std::string text = *output();
    LineOptions bounded{.bytes = 16};
    std::string joined;
    Texts whole;
    for (const auto& [part, end] : texts_of(text, bounded)) {
      RC_ASSERT(part.size() <= 16);
      joined += part;
      if (end != piece)
        whole.emplace_back(std::exchange(joined, {}), end);
    }
    RC_PRE(text.find('\r') == std::string::npos); // what is overwritten may have been shown already
    RC_ASSERT(whole == texts_of(text));
  }));
}
