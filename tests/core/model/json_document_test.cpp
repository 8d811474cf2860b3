#include <datastream/defaults.hpp>
#include <datastream/model/json_document.hpp>
#include <datastream/model/json_text.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace datastream;

namespace {

std::string nested(std::size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

JsonError::Kind refusal(std::string_view text) {
  const auto document = JsonDocument::parse(text);
  REQUIRE_FALSE(document);
  return document.error().kind;
}

} // namespace

TEST_CASE("a_document_keeps_members_in_order_and_duplicates") {
  const auto document = JsonDocument::parse(R"({"b":1,"a":{"x":[2]},"b":"three"})");
  REQUIRE(document);
  std::vector<std::string> keys;
  for (const auto member : document->root().members())
    keys.emplace_back(member.key);
  CHECK(keys == std::vector<std::string>{"b", "a", "b"});
}

TEST_CASE("a_document_walks_over_nested_values") {
  const auto document = JsonDocument::parse(R"([[1,[2,{}]],{"a":[3]},4])");
  REQUIRE(document);
  std::size_t count = 0;
  std::optional<int> last;
  for (const JsonValue item : document->root().items()) {
    ++count;
    last = item.as_integer<int>();
  }
  CHECK(count == 3);
  CHECK(last == 4);
}

TEST_CASE("a_document_has_at_most_127_levels") {
  CHECK(defaults::json_depth == 127);
  CHECK(JsonDocument::parse(nested(127)));
  CHECK(refusal(nested(128)) == JsonError::Kind::too_deep);
}

TEST_CASE("two_hundred_thousand_levels_are_refused_without_harm") {
  CHECK(refusal(nested(200'000)) == JsonError::Kind::too_deep);
  std::string objects;
  for (int i = 0; i < 200'000; ++i)
    objects += R"({"a":)";
  CHECK(refusal(objects) == JsonError::Kind::too_deep);
}

TEST_CASE("a_document_keeps_integers_apart_from_other_numbers") {
  const auto document = JsonDocument::parse(
      "[18446744073709551615, -9223372036854775808, 18446744073709551616, 4.0, -0, 1e2]");
  REQUIRE(document);
  std::vector<JsonValue> items;
  for (const JsonValue item : document->root().items())
    items.push_back(item);
  REQUIRE(items.size() == 6);
  CHECK(items[0].as_integer<std::uint64_t>() == 18446744073709551615U);
  CHECK_FALSE(items[0].as_integer<std::int64_t>());
  CHECK(items[1].as_integer<std::int64_t>() == std::numeric_limits<std::int64_t>::min());
  CHECK_FALSE(items[1].as_integer<std::uint64_t>());
  for (std::size_t i = 2; i < items.size(); ++i) {
    CAPTURE(i);
    CHECK_FALSE(items[i].is_integer());
    CHECK(items[i].as_floating());
  }
  CHECK(items[2].as_floating() == 18446744073709551616.0);
}

TEST_CASE("typed_access_never_converts") {
  const auto document = JsonDocument::parse(R"([null,true,1,"1"])");
  REQUIRE(document);
  std::vector<JsonValue> items;
  for (const JsonValue item : document->root().items())
    items.push_back(item);
  CHECK(items[0].is_null());
  CHECK_FALSE(items[0].as_boolean());
  CHECK(items[1].as_boolean() == true);
  CHECK_FALSE(items[1].as_integer<int>());
  CHECK_FALSE(items[2].as_boolean());
  CHECK_FALSE(items[2].as_string());
  CHECK(items[3].as_string() == "1");
  CHECK_FALSE(items[3].as_floating());
}

TEST_CASE("a_number_beyond_all_doubles_is_out_of_range") {
  CHECK(refusal("1e400") == JsonError::Kind::out_of_range);
}

TEST_CASE("a_byte_order_mark_or_a_nul_byte_is_no_json") {
  CHECK(refusal("\xEF\xBB\xBF{}") == JsonError::Kind::syntax);
  CHECK(refusal(std::string_view("{}\0", 3)) == JsonError::Kind::syntax);
  CHECK(refusal(std::string_view("\0", 1)) == JsonError::Kind::syntax);
}

TEST_CASE("a_document_becomes_a_library_value_in_which_the_last_duplicate_wins") {
  const auto document =
      JsonDocument::parse(R"({"a":1,"b":[null,true,-2,2.5,"s",{}],"a":18446744073709551615})");
  REQUIRE(document);
  nlohmann::json value;
  document->root().copy_to(value);
  std::string text;
  append_json(text, value);
  CHECK(text == R"({"a":18446744073709551615,"b":[null,true,-2,2.5,"s",{}]})");
}

TEST_CASE("a_library_value_that_is_nested_too_deeply_is_written_as_far_as_it_may_go") {
  nlohmann::json value = 1;
  for (int i = 0; i < 100'000; ++i)
    value = nlohmann::json::array({std::move(value)});
  std::string text;
  append_json(text, value);
  CHECK(text == std::string(127, '[') + "null" + std::string(127, ']'));
  CHECK(JsonDocument::parse(text));
}
