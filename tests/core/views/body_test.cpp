#include <datastream/defaults.hpp>
#include <datastream/views/body.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace datastream;

namespace {

bool is_raw(const Body& body, std::string_view bytes) {
  return body == Body{body::Raw{bytes}};
}

} // namespace

TEST_CASE("a_typed_body_is_any_json_value") {
  for (const char* text : {R"({"a":[1,2.5,null]})", "[]", "1", "-1", "1.5", "true", "null",
                           R"("text")", "18446744073709551615"}) {
    CAPTURE(text);
    const Body body = decode_body(ChannelKind::Typed, text);
    CHECK(std::holds_alternative<body::Record>(body));
    CHECK(to_string(body) == text);
  }
}

TEST_CASE("a_typed_body_that_is_not_json_is_raw") {
  for (std::string_view text :
       {"", " ", "{", "{}x", "nan", "'a'", "\"\xff\"", "1e400", "\xEF\xBB\xBF{}"}) {
    CAPTURE(text);
    CHECK(is_raw(decode_body(ChannelKind::Typed, text), text));
  }
  const std::string_view ends_in_nul("{}\0", 3);
  CHECK(is_raw(decode_body(ChannelKind::Typed, ends_in_nul), ends_in_nul));
}

TEST_CASE("a_typed_body_that_is_nested_too_deeply_is_raw") {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  const std::string deepest = nested(defaults::json_depth);
  CHECK(to_string(decode_body(ChannelKind::Typed, deepest)) == deepest);
  const std::string too_deep = nested(defaults::json_depth + 1);
  CHECK(is_raw(decode_body(ChannelKind::Typed, too_deep), too_deep));
  const std::string absurd = nested(200'000);
  CHECK(is_raw(decode_body(ChannelKind::Typed, absurd), absurd));
}

TEST_CASE("the_last_of_several_equal_keys_counts") {
  CHECK(to_string(decode_body(ChannelKind::Typed, R"({"a":1,"a":2})")) == R"({"a":2})");
}

TEST_CASE("a_text_body_is_the_whole_payload_untouched") {
  for (std::string_view text :
       {std::string_view(""), std::string_view("two\nlines\r\n"), std::string_view("a\0b\n", 4),
        std::string_view("\x1b[31mred\x1b[0m"), std::string_view("\xE2\x80\xA8")}) {
    CAPTURE(text);
    const Body body = decode_body(ChannelKind::Text, text);
    CHECK(body == Body{body::Text{text}});
    CHECK(to_string(body) == text);
  }
}

TEST_CASE("a_text_body_that_is_not_utf8_is_raw") {
  const std::string emoji = "\xF0\x9F\x98\x80";
  for (std::size_t cut : {1U, 2U, 3U}) { // a character cut between two reads
    CAPTURE(cut);
    CHECK(is_raw(decode_body(ChannelKind::Text, emoji.substr(0, cut)), emoji.substr(0, cut)));
    CHECK(is_raw(decode_body(ChannelKind::Text, emoji.substr(cut)), emoji.substr(cut)));
  }
  CHECK(is_raw(decode_body(ChannelKind::Text, "\x88"), "\x88"));
  std::string all;
  for (int byte = 0; byte < 256; ++byte)
    all += static_cast<char>(byte);
  CHECK(is_raw(decode_body(ChannelKind::Text, all), all));
}

TEST_CASE("an_opaque_body_is_raw_whatever_it_holds") {
  CHECK(is_raw(decode_body(ChannelKind::Opaque, "{}"), "{}"));
  CHECK(to_string(decode_body(ChannelKind::Opaque, "12345")) == "<5 opaque bytes>");
  CHECK(to_string(decode_body(ChannelKind::Opaque, "")) == "<0 opaque bytes>");
}

TEST_CASE("raw_and_text_bodies_refer_to_the_payload_and_copy_nothing") {
  const std::string payload = "hello";
  CHECK(std::get<body::Text>(decode_body(ChannelKind::Text, payload)).text.data() ==
        payload.data());
  CHECK(std::get<body::Raw>(decode_body(ChannelKind::Opaque, payload)).bytes.data() ==
        payload.data());
}
