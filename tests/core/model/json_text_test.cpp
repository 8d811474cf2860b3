#include <datastream/model/json_text.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>
#include <string>

using namespace datastream;

namespace {

template <class T>
std::string floating(T value) {
  std::string out;
  append_json_floating(out, value);
  return out;
}

} // namespace

TEST_CASE("doubles_are_written_as_peers_write_them") {
  CHECK(floating(0.0) == "0.0");
  CHECK(floating(-0.0) == "-0.0");
  CHECK(floating(12.0) == "12.0");
  CHECK(floating(-1.9) == "-1.9");
  CHECK(floating(0.1) == "0.1");
  CHECK(floating(1234.5) == "1234.5");
  CHECK(floating(1e15) == "1000000000000000.0");
  CHECK(floating(1e16) == "1e16");
  CHECK(floating(1e21) == "1e21");
  CHECK(floating(1.5e-7) == "1.5e-7");
  CHECK(floating(0.00001) == "0.00001");
  CHECK(floating(0.000001) == "1e-6");
  CHECK(floating(1.7976931348623157e308) == "1.7976931348623157e308");
  CHECK(floating(5e-324) == "5e-324");
}

TEST_CASE("floats_are_written_with_the_digits_of_a_float") {
  CHECK(floating(0.1F) == "0.1");
  CHECK(floating(16777216.0F) == "16777216.0");
  CHECK(floating(1e13F) == "1e13");
  CHECK(floating(3.4028235e38F) == "3.4028235e38");
}

TEST_CASE("nan_and_infinities_are_written_as_null") {
  CHECK(floating(std::nan("")) == "null");
  CHECK(floating(std::numeric_limits<double>::infinity()) == "null");
  CHECK(floating(-std::numeric_limits<float>::infinity()) == "null");
}

TEST_CASE("every_double_reads_back_as_itself_and_looks_like_a_floating_number") {
  std::mt19937_64 random(47);
  for (int i = 0; i < 20'000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (!std::isfinite(value))
      continue;
    const std::string text = floating(value);
    CAPTURE(text);
    double read = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), read);
    REQUIRE(result.ptr == text.data() + text.size());
    REQUIRE(read == value);
    REQUIRE(text.find_first_of(".e") != std::string::npos);
  }
}

TEST_CASE("a_character_is_escaped_wherever_it_stands") {
  const auto quoted = [](std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
  };
  for (int byte = 0; byte < 256; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    const std::string escaped = quoted(one).substr(1, quoted(one).size() - 2);
    for (std::size_t at = 0; at < 20; ++at) {
      CAPTURE(byte);
      CAPTURE(at);
      const std::string before(at, '~');
      const std::string after(19 - at, ' ');
      REQUIRE(quoted(before + one + after) == '"' + before + escaped + after + '"');
    }
  }
  CHECK(quoted("\x7f/") == "\"\x7f/\"");
  CHECK(quoted("\x1f") == "\"\\u001f\"");
  CHECK(quoted("\x80") == "\"\xEF\xBF\xBD\"");
}
