#include <datastream/model/json.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

using namespace datastream;

namespace {

const StreamId stream{"node-a", {7}};
const StreamDescriptor stream_descriptor{stream, std::nullopt, StreamOrigin::RemoteNode};
const ChannelDescriptor channel_descriptor{stream, {1}, "runtime.log", std::nullopt, TextStream{}};

/// The text is what peers write, and reading it gives the value back.
template <class T>
void check_golden(const T& value, const std::string& text) {
  CAPTURE(text);
  CHECK(encode_json(value) == text);
  const auto decoded = decode_json<T>(text);
  REQUIRE(decoded);
  CHECK((*decoded == value));
}

template <class T>
void check_reads(const std::string& text, const T& value) {
  CAPTURE(text);
  const auto decoded = decode_json<T>(text);
  REQUIRE(decoded);
  CHECK((*decoded == value));
}

template <class T>
JsonError refusal(const std::string& text) {
  CAPTURE(text);
  const auto decoded = decode_json<T>(text);
  REQUIRE_FALSE(decoded);
  return decoded.error();
}

} // namespace

TEST_CASE("json_of_identities_is_that_of_peers") {
  check_golden(stream, R"({"node":"node-a","life":7})");
  check_golden(StreamId{"", {18446744073709551615U}}, R"({"node":"","life":18446744073709551615})");
  check_golden(ChannelRef{stream, {1}}, R"({"stream":{"node":"node-a","life":7},"channel":1})");
}

TEST_CASE("json_of_descriptors_is_that_of_peers") {
  check_golden(stream_descriptor,
               R"({"stream":{"node":"node-a","life":7},"label":null,"origin":"RemoteNode"})");
  CHECK(encode_json(stream_descriptor).size() == 72);
  check_golden(
      StreamDescriptor{stream, "a label", StreamOrigin::Orchestrator},
      R"({"stream":{"node":"node-a","life":7},"label":"a label","origin":"Orchestrator"})");
  check_golden(channel_descriptor,
               R"({"stream":{"node":"node-a","life":7},"id":1,"name":"runtime.log","label":null,)"
               R"("content":"TextStream"})");
  const std::vector<ChannelDescriptor> channels{channel_descriptor};
  check_golden(channels, '[' + encode_json(channel_descriptor) + ']');
  CHECK(encode_json(channels).size() == 103);
}

TEST_CASE("json_of_channel_content_is_that_of_peers") {
  check_golden(ChannelContent{Bytes{}}, R"("Bytes")");
  check_golden(ChannelContent{TextStream{}}, R"("TextStream")");
  check_golden(ChannelContent{JsonRecord{"host.cpu"}}, R"({"JsonRecord":{"schema":"host.cpu"}})");
  check_golden(ChannelContent{JsonRecord{}}, R"({"JsonRecord":{"schema":null}})");
}

TEST_CASE("json_of_frames_is_that_of_peers") {
  check_golden(Frame{{1}, {3}, "hi\xff"}, R"({"channel":1,"position":3,"payload":[104,105,255]})");
  check_golden(Frame{{4294967295}, {18446744073709551615U}, ""},
               R"({"channel":4294967295,"position":18446744073709551615,"payload":[]})");
  check_golden(FrameDelivery{{stream, {1}}, {3}, "hi\xff"},
               R"({"channel":{"stream":{"node":"node-a","life":7},"channel":1},"position":3,)"
               R"("payload":[104,105,255]})");
}

TEST_CASE("json_of_events_is_that_of_peers") {
  check_golden(DatastreamEvent{StreamDeclared{stream_descriptor}},
               R"({"StreamDeclared":)" + encode_json(stream_descriptor) + '}');
  check_golden(DatastreamEvent{ChannelDeclared{channel_descriptor}},
               R"({"ChannelDeclared":)" + encode_json(channel_descriptor) + '}');
  const FrameDelivery frame{{stream, {1}}, {3}, "x"};
  check_golden(DatastreamEvent{frame}, R"({"Frame":)" + encode_json(frame) + '}');
  check_golden(DatastreamEvent{StreamEnded{stream}},
               R"({"StreamEnded":{"node":"node-a","life":7}})");
}

TEST_CASE("json_of_requests_and_snapshots_is_that_of_peers") {
  check_golden(SourceFilter{source_filter::All{}}, R"("All")");
  check_golden(SourceFilter{source_filter::Origin{StreamOrigin::Bootstrap}},
               R"({"Origin":"Bootstrap"})");
  check_golden(SourceFilter{source_filter::Node{"x"}}, R"({"Node":"x"})");
  check_golden(SourceFilter{source_filter::Stream{stream}},
               R"({"Stream":{"node":"node-a","life":7}})");
  check_golden(ChannelFilter{channel_filter::All{}}, R"("All")");
  check_golden(ChannelFilter{channel_filter::Name{"host.cpu"}}, R"({"Name":"host.cpu"})");
  check_golden(ChannelFilter{channel_filter::Prefix{"proc."}}, R"({"Prefix":"proc."})");
  check_golden(ChannelFilter{channel_filter::Content{ChannelContentKind::JsonRecord}},
               R"({"Content":"JsonRecord"})");
  check_golden(SubscriptionRequest::all(), R"({"sources":"All","channels":"All"})");
  check_golden(DatastreamSnapshot{}, R"({"streams":[],"channels":[]})");
  check_golden(DatastreamSnapshot{{stream_descriptor}, {channel_descriptor}},
               R"({"streams":[)" + encode_json(stream_descriptor) + R"(],"channels":[)" +
                   encode_json(channel_descriptor) + "]}");
}

TEST_CASE("json_strings_escape_what_peers_escape_and_nothing_else") {
  check_golden(StreamId{std::string("\"\\\b\f\n\r\t\x01\x1f\0/\x7f", 12), {0}},
               R"({"node":"\"\\\b\f\n\r\t\u0001\u001f\u0000/)"
               "\x7f\",\"life\":0}");
  check_golden(StreamId{"\xE2\x80\xA8 n\xC3\xA4h \xF0\x9F\x98\x80", {0}},
               "{\"node\":\"\xE2\x80\xA8 n\xC3\xA4h \xF0\x9F\x98\x80\",\"life\":0}");
}

TEST_CASE("json_of_a_name_that_is_not_utf8_is_written_with_replacement") {
  const std::string text = encode_json(StreamId{"a\xff\xc3z", {0}});
  CHECK(text == "{\"node\":\"a\xEF\xBF\xBD\xEF\xBF\xBDz\",\"life\":0}");
  CHECK(decode_json<StreamId>(text));
}

TEST_CASE("json_reader_ignores_unknown_fields_even_repeated") {
  check_reads(R"({"x":[1,{"y":2}],"node":"a","x":null,"life":1})", StreamId{"a", {1}});
}

TEST_CASE("json_reader_takes_fields_in_any_order") {
  check_reads(R"({"life":1,"node":"a"})", StreamId{"a", {1}});
}

TEST_CASE("json_reader_refuses_a_known_field_twice") {
  const JsonError error = refusal<StreamId>(R"({"node":"a","life":1,"node":"a"})");
  CHECK(error.kind == JsonError::Kind::duplicate_field);
  CHECK(error.field == "node");
}

TEST_CASE("json_reader_takes_a_missing_option_for_nothing") {
  check_reads(R"({"stream":{"node":"node-a","life":7},"origin":"RemoteNode"})", stream_descriptor);
  check_reads(R"({"JsonRecord":{}})", ChannelContent{JsonRecord{}});
}

TEST_CASE("json_reader_refuses_a_missing_field_that_is_no_option") {
  const JsonError error = refusal<ChannelRef>(R"({"stream":{"node":"a"},"channel":1})");
  CHECK(error.kind == JsonError::Kind::missing_field);
  CHECK(error.message() == "stream.life: is missing");
  CHECK(refusal<SubscriptionRequest>("{}").field == "sources");
}

TEST_CASE("json_reader_refuses_null_where_there_is_no_option") {
  CHECK(refusal<StreamId>(R"({"node":null,"life":1})").kind == JsonError::Kind::wrong_type);
  CHECK(refusal<StreamId>(R"({"node":"a","life":null})").kind == JsonError::Kind::wrong_type);
  CHECK(refusal<DatastreamSnapshot>(R"({"streams":null,"channels":[]})").field == "streams");
}

TEST_CASE("json_reader_takes_a_struct_as_a_positional_array") {
  check_reads(R"(["node-a",7])", stream);
  check_reads(R"([["node-a",7],null,"RemoteNode"])", stream_descriptor);
  check_reads(R"({"JsonRecord":["s"]})", ChannelContent{JsonRecord{"s"}});
  CHECK(refusal<StreamId>(R"(["a"])").kind == JsonError::Kind::wrong_length);
  CHECK(refusal<StreamId>(R"(["a",1,2])").kind == JsonError::Kind::wrong_length);
  CHECK(refusal<StreamDescriptor>(R"([["a",1]])").kind == JsonError::Kind::wrong_length);
}

TEST_CASE("json_reader_takes_an_alternative_without_content_as_an_object_with_null") {
  check_reads(R"({"Bytes":null})", ChannelContent{Bytes{}});
  check_reads(R"({"All":null})", SourceFilter{source_filter::All{}});
  check_reads(R"({"Content":{"JsonRecord":null}})",
              ChannelFilter{channel_filter::Content{ChannelContentKind::JsonRecord}});
  CHECK(refusal<ChannelContent>(R"({"Bytes":{}})").kind == JsonError::Kind::wrong_type);
}

TEST_CASE("json_reader_refuses_an_alternative_that_lacks_its_content") {
  CHECK(refusal<ChannelContent>(R"("JsonRecord")").kind == JsonError::Kind::wrong_type);
  CHECK(refusal<ChannelContent>(R"({"JsonRecord":null})").kind == JsonError::Kind::wrong_type);
  CHECK(refusal<SourceFilter>(R"("Node")").kind == JsonError::Kind::wrong_type);
}

TEST_CASE("json_reader_refuses_unknown_or_several_alternatives") {
  CHECK(refusal<ChannelContent>(R"("Blob")").kind == JsonError::Kind::unknown_variant);
  CHECK(refusal<ChannelContent>(R"({"Blob":null})").kind == JsonError::Kind::unknown_variant);
  CHECK(refusal<ChannelContent>(R"({"Bytes":null,"TextStream":null})").kind ==
        JsonError::Kind::wrong_type);
  CHECK(refusal<ChannelContent>("{}").kind == JsonError::Kind::wrong_type);
  CHECK(refusal<ChannelContent>("1").kind == JsonError::Kind::wrong_type);
  CHECK(refusal<StreamDescriptor>(R"({"stream":["a",1],"origin":"Moon"})").field == "origin");
}

TEST_CASE("json_reader_refuses_numbers_that_are_no_integers_of_the_field") {
  for (const char* life : {"4.0", "-1", "-0", "1e3", "18446744073709551616", "\"4\"", "true"}) {
    CAPTURE(life);
    const JsonError error = refusal<StreamId>(std::string(R"({"node":"a","life":)") + life + '}');
    CHECK(error.field == "life");
  }
  CHECK(refusal<ChannelRef>(R"({"stream":["a",1],"channel":4294967296})").kind ==
        JsonError::Kind::out_of_range);
  CHECK(refusal<ChannelRef>(R"({"stream":["a",1],"channel":-1})").kind ==
        JsonError::Kind::out_of_range);
}

TEST_CASE("json_reader_takes_payloads_from_arrays_of_bytes_only") {
  CHECK(refusal<Frame>(R"({"channel":1,"position":1,"payload":"hi"})").field == "payload");
  CHECK(refusal<Frame>(R"({"channel":1,"position":1,"payload":[256]})").kind ==
        JsonError::Kind::out_of_range);
  CHECK(refusal<Frame>(R"({"channel":1,"position":1,"payload":[-1]})").field == "payload");
}

TEST_CASE("json_reader_takes_white_space_around_a_document_and_nothing_else") {
  check_reads(" \t\r\n[\"a\" , 1]\r\n\t ", StreamId{"a", {1}});
  const JsonError error = refusal<StreamId>(R"(["a",1] x)");
  CHECK(error.kind == JsonError::Kind::syntax);
  REQUIRE(error.offset);
  CHECK(*error.offset >= 8);
  CHECK(refusal<StreamId>("").kind == JsonError::Kind::syntax);
  CHECK(refusal<StreamId>("[\"a\",1],").kind == JsonError::Kind::syntax);
}

TEST_CASE("json_reader_refuses_text_that_is_not_utf8") {
  CHECK(refusal<StreamId>("[\"a\xff\",1]").kind == JsonError::Kind::syntax);
  CHECK(refusal<StreamId>(R"(["\ud800",1])").kind == JsonError::Kind::syntax);
}

TEST_CASE("json_reader_names_the_element_that_is_wrong") {
  const JsonError error = refusal<DatastreamSnapshot>(
      R"({"streams":[],"channels":[{"stream":["a",1],"id":1,"name":"n","content":"Bytes"},)"
      R"({"stream":["a",1],"id":"1","name":"n","content":"Bytes"}]})");
  CHECK(error.field == "channels[1].id");
}
