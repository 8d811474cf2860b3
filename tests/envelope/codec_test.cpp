/// The envelope byte for byte, and what is none.

#include <datastream/envelope/codec.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>

using namespace datastream;
using namespace std::string_literals;

namespace {

const StreamId stream{"node-a", {7}};
const FrameView frame{{1}, {3}, "hi", {}};
// Length of the node's name, the name, life, position, channel, length of the payload, payload.
const std::string golden = "\x06\0\0\0node-a"
                           "\x07\0\0\0\0\0\0\0"
                           "\x03\0\0\0\0\0\0\0"
                           "\x01\0\0\0"
                           "\x02\0\0\0hi"s;

std::string encoded(const StreamId& of, const FrameView& what) {
  std::string bytes;
  REQUIRE(encode_envelope(bytes, of, what));
  return bytes;
}

EnvelopeError error_of(std::string_view bytes) {
  const auto envelope = decode_envelope(bytes);
  REQUIRE(!envelope);
  return envelope.error();
}

std::string drawn_bytes() {
  const auto bytes = *rc::gen::arbitrary<std::vector<std::uint8_t>>();
  return {bytes.begin(), bytes.end()};
}

} // namespace

TEST_CASE("an_envelope_is_that_of_peers_byte_for_byte") {
  CHECK(encoded(stream, frame) == golden);
  CHECK(golden.size() == envelope_size(stream, 2));
  const auto delivery = decode_delivery(golden);
  REQUIRE(delivery);
  CHECK(*delivery == Delivery{stream, {{1}, {3}, "hi"}});
}

TEST_CASE("a_decoded_view_lies_in_the_bytes_that_were_decoded") {
  const auto view = decode_envelope(golden);
  REQUIRE(view);
  CHECK(view->node.data() == golden.data() + 4);
  CHECK(view->payload.data() == golden.data() + golden.size() - 2);
  CHECK(view->belongs_to(stream));
  CHECK(!view->belongs_to({"node-a", {8}}));
  CHECK(!view->belongs_to({"node-b", {7}}));
}

TEST_CASE("empty_nodes_empty_payloads_and_the_largest_numbers_are_legal") {
  const StreamId nameless{"", {~0ULL}};
  const std::string bytes = encoded(nameless, {{~0U}, {~0ULL}, "", {}});
  CHECK(bytes.size() == envelope_overhead);
  CHECK(decode_delivery(bytes) == Delivery{nameless, {{~0U}, {~0ULL}, ""}});
}

TEST_CASE("wire_envelope_round_trips_numeric_channel_payload_and_position") {
  for (const std::string& payload :
       {R"({"kind":"json","n":1})"s, "plain text"s, "\0\xff\x80 bytes"s, ""s}) {
    const StreamId unicode{"n\xc3\xb8"
                           "de-\xe2\x82\xac",
                           {1}};
    CHECK(decode_delivery(encoded(unicode, {{9}, {12}, payload, {}})) ==
          Delivery{unicode, {{9}, {12}, payload}});
  }
}

TEST_CASE("every_strict_prefix_of_an_envelope_is_truncated") {
  for (std::size_t length = 0; length < golden.size(); ++length)
    CHECK(error_of(std::string_view(golden).substr(0, length)) == EnvelopeError::truncated);
}

TEST_CASE("a_length_beyond_the_input_is_truncated_and_costs_no_memory") {
  CHECK(error_of("\xff\xff\xff\xff"s) == EnvelopeError::truncated);
  std::string payload_too_long = golden;
  payload_too_long[golden.size() - 3] = '\x7f'; // 2 GiB of payload
  CHECK(error_of(payload_too_long) == EnvelopeError::truncated);
}

TEST_CASE("bytes_behind_an_envelope_are_trailing") {
  CHECK(error_of(golden + '\0') == EnvelopeError::trailing_bytes);
  CHECK(error_of(golden + golden) == EnvelopeError::trailing_bytes);
}

TEST_CASE("a_node_that_is_no_text_is_refused_before_anything_behind_it") {
  std::string bytes = golden;
  bytes[4] = '\xff';
  CHECK(error_of(bytes) == EnvelopeError::not_utf8);
  CHECK(error_of(bytes + "more") == EnvelopeError::not_utf8);
  CHECK(error_of(bytes.substr(0, 10)) == EnvelopeError::not_utf8); // nothing follows the name
  CHECK(error_of(bytes.substr(0, 9)) == EnvelopeError::truncated); // the name is not complete
}

TEST_CASE("a_byte_that_is_no_text_is_found_wherever_it_is_in_a_node_of_any_length") {
  for (std::size_t length = 1; length <= 20; ++length)
    for (std::size_t at = 0; at < length; ++at) {
      CAPTURE(length);
      CAPTURE(at);
      StreamId named{std::string(length, 'n'), {7}};
      std::string bytes = encoded(named, frame);
      CHECK(decode_envelope(bytes)->node == named.node.value);
      bytes[4 + at] = '\xff';
      CHECK(error_of(bytes) == EnvelopeError::not_utf8);
      named.node.value[at] = '\xff';
      std::string out;
      CHECK(encode_envelope(out, named, frame).error() == EnvelopeError::not_utf8);
    }
}

TEST_CASE("an_envelope_belongs_to_no_stream_whose_node_differs_in_any_byte_or_in_length") {
  for (std::size_t length = 0; length <= 20; ++length) {
    CAPTURE(length);
    const StreamId named{std::string(length, 'n'), {7}};
    const std::string bytes = encoded(named, frame);
    const auto envelope = decode_envelope(bytes);
    REQUIRE(envelope);
    CHECK(envelope->belongs_to(named));
    CHECK(!envelope->belongs_to({std::string(length + 1, 'n'), {7}}));
    for (std::size_t at = 0; at < length; ++at) {
      StreamId other = named;
      other.node.value[at] = 'N';
      CHECK(!envelope->belongs_to(other));
    }
  }
}

TEST_CASE("a_delivery_is_decoded_into_the_memory_of_the_last_one_whatever_stream_that_was_of") {
  Delivery out{{"node-a", {6}}, {{9}, {9}, std::string(200, 'x')}};
  const char* const memory = out.frame.payload.data();
  REQUIRE(decode_delivery(out, golden));
  CHECK(out == Delivery{stream, {{1}, {3}, "hi"}});
  REQUIRE(decode_delivery(out, encoded({"node-b", {7}}, {{2}, {4}, "", {}})));
  CHECK(out == Delivery{{"node-b", {7}}, {{2}, {4}, ""}});
  CHECK(out.frame.payload.data() == memory);
  CHECK(decode_delivery(out, "short").error() == EnvelopeError::truncated);
  CHECK(decode_delivery(out, golden + '!').error() == EnvelopeError::trailing_bytes);
  CHECK(out == Delivery{{"node-b", {7}}, {{2}, {4}, ""}});
}

TEST_CASE("a_node_that_is_no_text_is_not_encoded") {
  std::string out = "kept";
  CHECK(encode_envelope(out, {"\xff", {1}}, frame).error() == EnvelopeError::not_utf8);
  const Frame one[] = {{{1}, {0}, "x"}};
  CHECK(encode_framed(out, FrameBatch::copy_of({"\xff", {1}}, one)).error() ==
        EnvelopeError::not_utf8);
  CHECK(out == "kept");
}

TEST_CASE("errors_have_names_and_stable_numbers") {
  CHECK(to_string(EnvelopeError::truncated) == "truncated");
  CHECK(to_string(EnvelopeError::bad_length) == "bad_length");
  CHECK(to_string(EnvelopeError::not_utf8) == "not_utf8");
  CHECK(to_string(EnvelopeError::trailing_bytes) == "trailing_bytes");
  CHECK(to_string(EnvelopeError::unknown_tag) == "unknown_tag");
  CHECK(static_cast<int>(EnvelopeError::truncated) == 1);
  CHECK(static_cast<int>(EnvelopeError::unknown_tag) == 5);
}

TEST_CASE("encoding_uses_the_memory_of_its_buffer_again") {
  std::string buffer;
  buffer.reserve(256);
  const char* memory = buffer.data();
  for (int i = 0; i < 10; ++i)
    REQUIRE(encode_envelope(buffer, stream, frame));
  CHECK(buffer == golden);
  CHECK(buffer.data() == memory);
}

TEST_CASE("a_whole_batch_is_encoded_into_one_buffer_each_envelope_after_its_length") {
  const Frame frames[] = {{{1}, {3}, "hi"}, {{2}, {4}, ""}};
  std::string out = "before";
  REQUIRE(encode_framed(out, FrameBatch::copy_of(stream, frames)));
  CHECK(out == "before\x24\0\0\0"s + golden + "\x22\0\0\0"s + encoded(stream, {{2}, {4}, "", {}}));
  REQUIRE(encode_framed(out, FrameBatch()));
  CHECK(out.size() == 6 + 4 + 36 + 4 + 34);
}

TEST_CASE("arbitrary_bytes_decode_or_fail_and_what_decodes_is_encoded_the_same") {
  CHECK(rc::check([] {
    const std::string bytes = drawn_bytes();
    const auto view = decode_envelope(bytes);
    if (view)
      RC_ASSERT(encoded(view->stream(), view->frame()) == bytes);
  }));
}

TEST_CASE("every_envelope_survives_the_round_trip") {
  CHECK(rc::check([](std::uint64_t life, std::uint64_t position, std::uint32_t channel) {
    const std::string node = *rc::gen::container<std::string>(rc::gen::inRange('a', 'z'));
    const Delivery delivery{{node, {life}}, {{channel}, {position}, drawn_bytes()}};
    const Frame& kept = delivery.frame;
    const auto decoded =
        decode_delivery(encoded(delivery.stream, {kept.channel, kept.position, kept.payload, {}}));
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(*decoded == delivery);
  }));
}

TEST_CASE("the_document_s_example_is_the_envelope_that_it_says") {
  std::ifstream in(DATASTREAM_SOURCE_DIR "/docs/envelope.md");
  const std::string document(std::istreambuf_iterator<char>(in), {});
  const auto begin = document.find("```hex\n");
  REQUIRE(begin != std::string::npos);
  std::istringstream digits(
      document.substr(begin + 7, document.find("```", begin + 7) - begin - 7));
  std::string bytes;
  for (std::string byte; digits >> byte;)
    bytes += static_cast<char>(std::stoi(byte, nullptr, 16));
  CHECK(bytes == golden);
}
