#include <datastream/model/utf8.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace datastream;

TEST_CASE("utf8_is_told_from_what_only_looks_like_it") {
  for (const char* text :
       {"", "ascii only, longer than eight bytes", "n\xC3\xA4h", "\xE2\x82\xAC", "\xED\x9F\xBF",
        "\xEE\x80\x80", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"}) {
    CAPTURE(text);
    CHECK(is_utf8(text));
  }
  for (const char* text : {"\x80", "\xC0\xAF", "\xC3", "\xC3z", "\xE0\x80\x80", "\xE2\x82",
                           "\xED\xA0\x80", "\xF0\x80\x80\x80", "\xF0\x9F\x98", "\xF4\x90\x80\x80",
                           "\xF5\x80\x80\x80", "\xFF", "12345678\xFF"}) {
    CAPTURE(text);
    CHECK_FALSE(is_utf8(text));
  }
  CHECK(is_utf8(std::string_view("a\0b", 3)));
}

TEST_CASE("each_broken_sequence_is_replaced_once") {
  const std::string fffd(replacement_character);
  CHECK(to_utf8_lossy("a\xFFz") == "a" + fffd + "z");
  CHECK(to_utf8_lossy("\xFF\xFE") == fffd + fffd);
  CHECK(to_utf8_lossy("\xF0\x9F\x98") == fffd);
  CHECK(to_utf8_lossy("\xF0\x9F\x98z") == fffd + "z");
  CHECK(to_utf8_lossy("\xE2\x82\xE2\x82\xAC") == fffd + "\xE2\x82\xAC");
  CHECK(to_utf8_lossy("\xED\xA0\x80") == fffd + fffd + fffd);
  CHECK(to_utf8_lossy("n\xC3\xA4h") == "n\xC3\xA4h");
}
