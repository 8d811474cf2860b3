#include <datastream/model/utf8.hpp>
#include <datastream/views/filter.hpp>
#include <datastream/views/grep.hpp>
#include <datastream/views/tail.hpp>

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include <stream_of.hpp>

using namespace datastream;

namespace {

using Positions = std::vector<std::uint64_t>;

template <class Frames>
Positions positions(Frames&& frames) {
  Positions result;
  for (const FrameView& frame : frames)
    result.push_back(frame.position.value);
  return result;
}

StoredStream example() {
  return stream_of({{{1}, {0}, "alpha"},
                    {{2}, {3}, "beta"},
                    {{1}, {4}, ""},
                    {{1}, {7}, "alphabet"},
                    {{3}, {8}, "\xff\xfe"}});
}

} // namespace

TEST_CASE("a_tail_has_the_last_frames_and_shows_no_gaps") {
  const StoredStream stream = example();
  CHECK(positions(tail(stream, 2)) == Positions{7, 8});
  CHECK(positions(tail(stream, 3)) == Positions{4, 7, 8});
}

TEST_CASE("a_tail_of_none_is_empty_and_a_longer_one_has_all") {
  const StoredStream stream = example();
  CHECK(positions(tail(stream, 0)).empty());
  CHECK(positions(tail(stream, 5)) == Positions{0, 3, 4, 7, 8});
  CHECK(positions(tail(stream, 1'000'000)) == Positions{0, 3, 4, 7, 8});
  const StoredStream empty = stream_of({});
  CHECK(positions(tail(empty, 3)).empty());
}

TEST_CASE("a_filter_has_the_frames_that_the_caller_picks") {
  const StoredStream stream = example();
  CHECK(positions(filter(stream, [](const FrameView& f) { return f.channel == ChannelId{1}; })) ==
        Positions{0, 4, 7});
  CHECK(positions(filter(stream, [](const FrameView&) { return false; })).empty());
}

TEST_CASE("grep_finds_plain_text_with_its_case") {
  const StoredStream stream = example();
  CHECK(positions(grep(stream, "alpha")) == Positions{0, 7});
  CHECK(positions(grep(stream, "bet")) == Positions{3, 7});
  CHECK(positions(grep(stream, "ALPHA")).empty());
  CHECK(positions(grep(stream, "a.*a")).empty());
}

TEST_CASE("grep_of_the_empty_text_finds_every_frame_also_an_empty_one") {
  const StoredStream stream = example();
  CHECK(positions(grep(stream, "")) == Positions{0, 3, 4, 7, 8});
}

TEST_CASE("grep_of_the_replacement_character_finds_what_is_not_utf8") {
  const StoredStream stream =
      stream_of({{{1}, {0}, "\xff"}, {{1}, {1}, "clean"}, {{1}, {2}, "\xEF\xBF\xBD"}});
  CHECK(positions(grep(stream, replacement_character)) == Positions{0, 2});
  CHECK(positions(grep(stream, "\xff")) == Positions{0, 2});
}

TEST_CASE("grep_finds_text_beside_broken_bytes") {
  const StoredStream stream = stream_of({{{1}, {0}, "\xE2\x82word\xC3"}});
  CHECK(positions(grep(stream, "word")) == Positions{0});
  CHECK(positions(grep(stream, std::string(replacement_character) + "word")) == Positions{0});
  CHECK(positions(grep(stream, "\xC3\xA4")).empty());
}

TEST_CASE("grep_answers_as_if_the_payload_had_been_read_as_lossy_utf8") {
  // Bytes that make up characters, and parts of them, often enough to matter.
  constexpr std::string_view alphabet = "ab\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\xff\xEF\xBF\xBD";
  std::mt19937 random(8);
  const auto text = [&](std::size_t longest) {
    std::string result;
    for (std::size_t n = random() % (longest + 1); n > 0; --n)
      result += alphabet[random() % alphabet.size()];
    return result;
  };
  std::size_t found = 0;
  for (int i = 0; i < 50'000; ++i) {
    const std::string payload = text(12);
    const std::string needle = text(3);
    const bool expected = to_utf8_lossy(payload).find(to_utf8_lossy(needle)) != std::string::npos;
    found += expected ? 1 : 0;
    REQUIRE(TextSearch(needle)({{1}, {0}, payload, {}}) == expected);
  }
  CHECK(found > 1000);
}
