#include <datastream/record.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

using namespace datastream;

namespace {

struct Load {
  static constexpr auto CHANNEL = "worker.load";
  std::uint32_t queue = 0;
  double busy = 0;
};
DATASTREAM_RECORD(Load, queue, busy)

struct Part {
  std::int8_t small = 5;
  std::vector<bool> flags;
  friend bool operator==(const Part&, const Part&) = default;
};
DATASTREAM_RECORD(Part, small, flags)

struct Everything {
  static constexpr auto CHANNEL = "test.everything";
  bool truth = false;
  std::int64_t lowest = 0;
  std::uint64_t highest = 0;
  float single = 0;
  double wide = 0;
  std::string text;
  std::optional<std::string> maybe;
  std::vector<Part> parts;
  std::map<std::string, std::vector<int>> table;
  Part part;
  nlohmann::json any;
  friend bool operator==(const Everything&, const Everything&) = default;
};
DATASTREAM_RECORD(Everything, truth, lowest, highest, single, wide, text, maybe, parts, table, part,
                  any)

struct Sample { // one field of each type whose narrowing could go wrong
  static constexpr auto CHANNEL = "test.sample";
  std::uint8_t u8 = 0;
  std::uint32_t u32 = 0;
  std::uint64_t u64 = 0;
  std::int32_t i32 = 0;
  float f32 = 0;
  double f64 = 0;
  bool flag = false;
  std::string text = "default";
};
DATASTREAM_RECORD(Sample, u8, u32, u64, i32, f32, f64, flag, text)

struct Marker {
  static constexpr auto CHANNEL = "test.marker";
};
DATASTREAM_RECORD(Marker)

struct Tree {
  static constexpr auto CHANNEL = "test.tree";
  std::vector<Tree> children;
};
DATASTREAM_RECORD(Tree, children)

struct Wide {
  static constexpr auto CHANNEL = "test.wide";
  int a0 = 0, a1 = 1, a2 = 2, a3 = 3, a4 = 4, a5 = 5, a6 = 6, a7 = 7, a8 = 8, a9 = 9;
  int b0 = 0, b1 = 1, b2 = 2, b3 = 3, b4 = 4, b5 = 5, b6 = 6, b7 = 7, b8 = 8, b9 = 9;
  int c0 = 0, c1 = 1, c2 = 2, c3 = 3, c4 = 4, c5 = 5, c6 = 6, c7 = 7, c8 = 8, c9 = 9;
  int d0 = 0, d1 = 1, d2 = 2, d3 = 3;
};
DATASTREAM_RECORD(Wide, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8,
                  b9, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, d0, d1, d2, d3)

struct NoRecord {};

template <class T>
RecordError refusal(std::string_view text) {
  const auto record = decode_record<T>(text);
  REQUIRE_FALSE(record);
  return record.error();
}

} // namespace

static_assert(Record<Load>);
static_assert(!Record<Part>, "a nested record has no channel");
static_assert(!Record<NoRecord>);

TEST_CASE("a_record_knows_its_channel") {
  CHECK(channel_name<Load>() == "worker.load");
}

TEST_CASE("a_record_is_written_in_the_order_of_its_declaration") {
  CHECK(encode_record(Load{3, 0.5}) == R"({"queue":3,"busy":0.5})");
  CHECK(encode_record(Load{4294967295, 12}) == R"({"queue":4294967295,"busy":12.0})");
  CHECK(encode_record(Marker{}) == "{}");
}

TEST_CASE("a_record_of_every_type_survives_writing_and_reading") {
  Everything value;
  value.truth = true;
  value.lowest = std::numeric_limits<std::int64_t>::min();
  value.highest = std::numeric_limits<std::uint64_t>::max();
  value.single = 0.1F;
  value.wide = 1e300;
  value.text = "line\n\"quoted\" \xF0\x9F\x98\x80";
  value.maybe = "";
  value.parts = {{-128, {true, false}}, {}};
  value.table = {{"", {}}, {"a,", {1, -2}}};
  value.any = nlohmann::json::parse(R"({"x":[1,null,2.5,{"y":"z"}]})");
  const std::string text = encode_record(value);
  CHECK(text == R"({"truth":true,"lowest":-9223372036854775808,"highest":18446744073709551615,)"
                R"("single":0.1,"wide":1e300,"text":"line\n\"quoted\" )"
                "\xF0\x9F\x98\x80"
                R"(","maybe":"","parts":[{"small":-128,"flags":[true,false]},)"
                R"({"small":5,"flags":[]}],"table":{"":[],"a,":[1,-2]},)"
                R"("part":{"small":5,"flags":[]},"any":{"x":[1,null,2.5,{"y":"z"}]}})");
  const auto read = decode_record<Everything>(text);
  REQUIRE(read);
  CHECK(*read == value);
}

TEST_CASE("a_record_takes_at_least_32_fields") {
  const auto record = decode_record<Wide>(encode_record(Wide{}));
  REQUIRE(record);
  CHECK(record->a0 == 0);
  CHECK(record->d3 == 3);
  CHECK(encode_record(Wide{}).ends_with(R"("d2":2,"d3":3})"));
}

TEST_CASE("a_record_is_appended_to_a_buffer_that_keeps_its_memory") {
  std::string buffer = "prefix";
  encode_record_to(buffer, Load{1, 1});
  CHECK(buffer == R"(prefix{"queue":1,"busy":1.0})");
  const char* memory = buffer.data();
  for (std::uint32_t i = 0; i < 10; ++i) {
    buffer.clear();
    encode_record_to(buffer, Load{i, 0.25});
  }
  CHECK(buffer.data() == memory);
}

TEST_CASE("a_record_never_contains_nan_or_invalid_text") {
  Sample sample;
  sample.f64 = std::nan("");
  sample.f32 = std::numeric_limits<float>::infinity();
  sample.text = "a\xff";
  const std::string text = encode_record(sample);
  CHECK(text.find(R"("f32":null,"f64":null)") != std::string::npos);
  CHECK(text.find("\"a\xEF\xBF\xBD\"") != std::string::npos);
}

TEST_CASE("integers_out_of_range_are_errors_and_never_wrap") {
  for (const char* field :
       {R"({"u32":-1})", R"({"u32":4294967296})", R"({"u8":256})", R"({"u8":-1})",
        R"({"i32":2147483648})", R"({"i32":-2147483649})", R"({"u64":-1})"}) {
    CAPTURE(field);
    CHECK(refusal<Sample>(field).kind == RecordError::Kind::out_of_range);
  }
  CHECK(refusal<Sample>(R"({"u32":-1})").field == "u32");
}

TEST_CASE("numbers_that_are_no_integers_are_errors_and_never_truncated") {
  for (const char* field : {R"({"i32":1.9})", R"({"i32":1.0})", R"({"i32":1e2})", R"({"i32":-0})",
                            R"({"u64":18446744073709551616})"}) {
    CAPTURE(field);
    CHECK(refusal<Sample>(field).kind == RecordError::Kind::wrong_type);
  }
}

TEST_CASE("large_unsigned_numbers_stay_exact") {
  CHECK(decode_record<Sample>(R"({"u64":18446744073709551615})")->u64 == 18446744073709551615U);
  CHECK(decode_record<Sample>(R"({"u64":9007199254740993})")->u64 == 9007199254740993U);
}

TEST_CASE("floating_fields_take_every_number_that_fits") {
  CHECK(decode_record<Sample>(R"({"f64":1})")->f64 == 1.0);
  CHECK(decode_record<Sample>(R"({"f64":-3})")->f64 == -3.0);
  CHECK(decode_record<Sample>(R"({"f64":1e-5})")->f64 == 1e-5);
  CHECK(decode_record<Sample>(R"({"f64":18446744073709551616})")->f64 == 18446744073709551616.0);
  CHECK(decode_record<Sample>(R"({"f32":0.1})")->f32 == 0.1F);
  CHECK(refusal<Sample>(R"({"f32":1e300})").kind == RecordError::Kind::out_of_range);
  CHECK(refusal<Sample>(R"({"f64":1e400})").kind == RecordError::Kind::out_of_range);
  CHECK(refusal<Sample>(R"({"f64":NaN})").kind == RecordError::Kind::syntax);
}

TEST_CASE("values_of_another_type_are_errors") {
  for (const char* field :
       {R"({"flag":1})", R"({"flag":"true"})", R"({"text":1})", R"({"u32":"1"})", R"({"u32":true})",
        R"({"f64":"1"})", R"({"text":["a"]})"}) {
    CAPTURE(field);
    CHECK(refusal<Sample>(field).kind == RecordError::Kind::wrong_type);
  }
  CHECK(refusal<Everything>(R"({"parts":[{},{"flags":[true,0]}]})").message() ==
        "parts[1].flags[1]: expected true or false");
  CHECK(refusal<Everything>(R"({"table":{"k":[1,"2"]}})").field == "table.k[1]");
}

TEST_CASE("null_is_taken_for_an_optional_only") {
  CHECK(decode_record<Everything>(R"({"maybe":null})")->maybe == std::nullopt);
  CHECK(decode_record<Everything>(R"({"any":null})")->any.is_null());
  for (const char* field :
       {R"({"truth":null})", R"({"lowest":null})", R"({"wide":null})", R"({"text":null})",
        R"({"parts":null})", R"({"table":null})", R"({"part":null})"}) {
    CAPTURE(field);
    CHECK(refusal<Everything>(field).kind == RecordError::Kind::wrong_type);
  }
}

TEST_CASE("missing_fields_keep_their_defaults_and_unknown_ones_are_ignored") {
  const auto sample = decode_record<Sample>(R"({"added_later":{"x":[1]},"u32":7})");
  REQUIRE(sample);
  CHECK(sample->u32 == 7);
  CHECK(sample->text == "default");
  CHECK(decode_record<Everything>(R"({"part":{}})")->part.small == 5);
}

TEST_CASE("a_known_field_twice_is_an_error") {
  CHECK(refusal<Load>(R"({"queue":1,"queue":2})").kind == RecordError::Kind::duplicate_field);
  CHECK(decode_record<Load>(R"({"x":1,"x":2})"));
}

TEST_CASE("a_record_is_one_json_object_and_nothing_else") {
  for (const char* text : {"[]", "[1,0.5]", "1", "null", "\"{}\""}) {
    CAPTURE(text);
    CHECK(refusal<Load>(text).kind == RecordError::Kind::wrong_type);
  }
  for (const char* text : {"", "{", "{}{}", "{} x", "plain text"}) {
    CAPTURE(text);
    CHECK(refusal<Load>(text).kind == RecordError::Kind::syntax);
  }
}

TEST_CASE("records_that_contain_themselves_are_bounded_in_both_directions") {
  std::string deep;
  for (int i = 0; i < 200'000; ++i)
    deep += R"({"children":[)";
  CHECK(refusal<Tree>(deep).kind == RecordError::Kind::too_deep);

  Tree tree;
  for (int i = 0; i < 1000; ++i) {
    Tree parent;
    parent.children.push_back(std::move(tree));
    tree = std::move(parent);
  }
  CHECK(JsonDocument::parse(encode_record(tree)));
}
