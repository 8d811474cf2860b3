#include "json_line.hpp"
#include "line_reader.hpp"

#include <datastream/archive/json_lines.hpp>

#include <doctest/doctest.h>

#include <finished_program.hpp>
#include <temporary_directory.hpp>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <streambuf>
#include <string>
#include <vector>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::system_clock::time_point midnight{1'764'460'800s};

std::string all_bytes() {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte)
    bytes += static_cast<char>(byte);
  return bytes;
}

ArchivedBatch batch_of(const StreamId& stream, const std::vector<Frame>& frames,
                       std::uint64_t first = 1) {
  ArchivedBatch batch;
  batch.frames = FrameBatch::copy_of(stream, frames);
  batch.arrival = midnight;
  batch.first = {first};
  return batch;
}

std::string written(const ArchivedBatch& batch, const std::string& source = "archive") {
  std::ostringstream out;
  JsonLinesWriter(out, source).write(batch);
  return out.str();
}

JsonLine parsed(std::string_view line) {
  CAPTURE(std::string(line));
  auto result = parse_json_line(line);
  REQUIRE(result);
  return *std::move(result);
}

/// A line with one of its members replaced, or with one more.
std::string with(std::string_view key, std::string_view value) {
  const std::pair<std::string, std::string> members[] = {
      {"stream", R"("node-a#7")"}, {"channel", R"("log")"},   {"channel_id", "1"},
      {"position", "4"},           {"payload", R"("hello")"}, {"arrival_unix_ms", "5"}};
  std::string line;
  bool known = false;
  for (const auto& [name, usual] : members) {
    known |= name == key;
    line +=
        (line.empty() ? "{\"" : ",\"") + name + "\":" + (name == key ? std::string(value) : usual);
  }
  if (!known)
    line.append(",\"").append(key).append("\":").append(value);
  return line + '}';
}

} // namespace

TEST_CASE("a_frame_is_written_as_the_orchestrator_writes_it") {
  ArchivedBatch batch = batch_of({"node-a", {7}}, {{{1}, {0}, "hello"}, {{3}, {1}, {"\xff\0", 2}}});
  batch.declarations.emplace_back(std::make_shared<const ChannelDescriptor>(
      StreamId{"node-a", {7}}, ChannelId{1}, "runtime.log", std::nullopt, TextStream{}));
  CHECK(written(batch, "orchestrator") ==
        R"({"arrival_seq":1,"arrival_unix_ms":1764460800000,"channel":"runtime.log",)"
        R"("channel_id":1,"payload":{"encoding":"utf8","value":"hello"},"position":0,)"
        R"("source":"orchestrator","stream":"node-a#7"})"
        "\n"
        R"({"arrival_seq":2,"arrival_unix_ms":1764460800000,"channel":"channel#3",)"
        R"("channel_id":3,"payload":{"encoding":"bytes","value":[255,0]},"position":1,)"
        R"("source":"orchestrator","stream":"node-a#7"})"
        "\n");
}

TEST_CASE("frames_that_a_filter_left_out_keep_their_sequences_and_times_are_cut_to_milliseconds") {
  ArchivedBatch batch = batch_of({"n", {0}}, {{{1}, {0}, ""}, {{1}, {5}, ""}}, 10);
  batch.offsets = {0, 7};
  batch.arrival = std::chrono::system_clock::time_point(-1500us);
  const std::string text = written(batch);
  CHECK(text.find("\"arrival_seq\":10,") != std::string::npos);
  CHECK(text.find("\"arrival_seq\":17,") != std::string::npos);
  CHECK(text.find("\"arrival_unix_ms\":-2,") != std::string::npos);
}

TEST_CASE("whatever_is_written_is_read_back_as_it_was") {
  const std::string payloads[] = {"",
                                  "hello",
                                  "{\"a\":[1,2]}",
                                  std::string("a\0b", 3),
                                  "line\nline\r\ttab\\\"\x7f",
                                  "\u2028 \u2029 \U0001f600 \ufeff \uffff",
                                  "\xed\xa0\x80",     // a surrogate as if it were a character
                                  "\xf0\x9f\x98",     // a character that was cut
                                  "\xc0\xaf",         // one that is longer than it needs to be
                                  "\xf4\x90\x80\x80", // one beyond the last
                                  all_bytes(),
                                  std::string(100'000, '\xff')};
  const StreamId streams[] = {{"node-a", {7}},
                              {"", {0}},
                              {"a#b#12", {UINT64_MAX}},
                              {"n\xff#\"\n", {1}},
                              {std::string("\0", 1), {1}}};
  for (const StreamId& stream : streams)
    for (const std::string& payload : payloads) {
      const Frame frame{{UINT32_MAX}, {UINT64_MAX}, payload};
      std::string text = written(batch_of(stream, {frame}));
      REQUIRE(text.ends_with('\n'));
      text.pop_back();
      CHECK(text.find('\n') == std::string::npos);
      const JsonLine line = parsed(text);
      CHECK(line.stream == stream);
      CHECK(line.frame == frame);
      CHECK(line.arrival == midnight);
      CHECK_FALSE(line.channel);
    }
}

TEST_CASE("names_that_are_no_text_come_back_as_their_bytes") {
  const StreamId stream{"n\xff", {7}};
  for (const std::string& name : {std::string("\xff\xfe"), std::string("channel#2"), all_bytes()}) {
    ArchivedBatch batch = batch_of(stream, {{{1}, {0}, ""}});
    batch.declarations.emplace_back(std::make_shared<const ChannelDescriptor>(
        stream, ChannelId{1}, name, std::nullopt, Bytes{}));
    const JsonLine line = parsed(written(batch));
    CHECK(line.channel == name);
    CHECK(line.stream == stream);
  }
}

TEST_CASE("keys_come_in_any_order_and_unknown_ones_are_ignored") {
  const JsonLine expected = parsed(with("more", R"({"payload":1,"stream":[]})"));
  CHECK(expected.stream == StreamId{"node-a", {7}});
  CHECK(expected.channel == "log");
  CHECK(expected.frame == Frame{{1}, {4}, "hello"});
  CHECK(expected.arrival == std::chrono::system_clock::time_point(5ms));
  std::vector<std::string> members = {R"("stream":"node-a#7")",
                                      R"("channel":"log")",
                                      R"("channel_id":1)",
                                      R"("position":4)",
                                      R"("arrival_unix_ms":5)",
                                      R"("arrival_seq":"ignored")",
                                      R"("payload":{"value":"hello","encoding":"utf8"})"};
  std::ranges::sort(members);
  do {
    std::string text;
    for (const std::string& member : members)
      text += (text.empty() ? "{ " : " , ") + member;
    const JsonLine line = parsed(text + " }\r");
    CHECK(line.stream == expected.stream);
    CHECK(line.channel == expected.channel);
    CHECK(line.frame == expected.frame);
    CHECK(line.arrival == expected.arrival);
  } while (std::ranges::next_permutation(members).found);
}

TEST_CASE("the_node_writes_a_payload_that_is_a_string_and_no_time") {
  const JsonLine line = parsed(
      R"({"channel":"channel#4","channel_id":4,"payload":"a\u0000\ud83d\ude00","position":0,)"
      R"("stream":"3#1"})");
  CHECK_FALSE(line.arrival);
  CHECK_FALSE(line.channel);
  CHECK(line.frame.payload == std::string("a\0\U0001f600", 6));
  CHECK(parsed(with("channel", R"("channel#4")")).channel == "channel#4"); // of channel 1
}

TEST_CASE("what_is_no_frame_is_a_bad_line_that_says_why") {
  const std::pair<std::string, const char*> lines[] = {
      {"", "syntax"},
      {"{", ""},
      {"[]", "this is no object"},
      {"\xef\xbb\xbf" + with("more", "1"), ""},
      {with("more", "1") + with("more", "1"), ""},
      {with("payload", R"("\ud800")"), ""},
      {with("payload", "\"\xff\""), ""},
      {with("more", std::string(200'000, '[')), ""},
      {with("more", std::string(1'000, '[') + std::string(1'000, ']')), "nested"},
      {R"({"stream":"a#1","stream":"b#1"})", "`stream` is there twice"},
      {with("payload", R"({"encoding":"utf8","encoding":"bytes","value":[]})"),
       "`encoding` is there twice"},
      {with("stream", "7"), "`stream` is no text"},
      {with("stream", R"("node-a")"), "`stream` is not a node"},
      {with("stream", R"("node-a#")"), "`stream` is not a node"},
      {with("stream", R"("node-a#-1")"), "`stream` is not a node"},
      {with("stream", R"("node-a#+1")"), "`stream` is not a node"},
      {with("stream", R"("node-a# 1")"), "`stream` is not a node"},
      {with("stream", R"("node-a#07")"), "`stream` is not a node"},
      {with("stream", R"("node-a#7x")"), "`stream` is not a node"},
      {with("stream", R"("node-a#18446744073709551616")"), "`stream` is not a node"},
      {with("channel", "null"), "`channel` is no text"},
      {with("channel_id", "-1"), "`channel_id` is no integer"},
      {with("channel_id", "4294967296"), "`channel_id` is no integer"},
      {with("channel_id", "1.0"), "`channel_id` is no integer"},
      {with("channel_id", R"("1")"), "`channel_id` is no integer"},
      {with("position", "-1"), "`position` is no integer"},
      {with("position", "18446744073709551616"), "`position` is no integer"},
      {with("position", "1e3"), "`position` is no integer"},
      {with("position", "null"), "`position` is no integer"},
      {with("payload", "null"), "`payload` is neither"},
      {with("payload", "[104]"), "`payload` is neither"},
      {with("payload", "{}"), "encoding that is not known"},
      {with("payload", R"({"encoding":"hex","value":"00"})"), "encoding that is not known"},
      {with("payload", R"({"encoding":"utf8","value":[1]})"), "`value` is no text"},
      {with("payload", R"({"encoding":"utf8"})"), "`value` is not there"},
      {with("payload", R"({"encoding":"bytes"})"), "encoding that is not known"},
      {with("payload", R"({"encoding":"bytes","value":"x"})"), "`value` is no array"},
      {with("payload", R"({"encoding":"bytes","value":[256]})"), "no byte"},
      {with("payload", R"({"encoding":"bytes","value":[-1]})"), "no byte"},
      {with("payload", R"({"encoding":"bytes","value":[1.0]})"), "no byte"},
      {with("payload", R"({"encoding":"bytes","value":[[]]})"), "no byte"},
      {with("stream_bytes", "[300]"), "no byte"},
      {with("arrival_unix_ms", "9223372036854775807"), "no time"},
      {with("arrival_unix_ms", "-9223372036854775808"), "no time"},
      {with("arrival_unix_ms", "1.5"), "no time"},
      {with("arrival_unix_ms", "null"), "no time"},
  };
  for (const auto& [line, reason] : lines) {
    CAPTURE(line.substr(0, 200));
    const auto result = parse_json_line(line);
    REQUIRE_FALSE(result);
    CAPTURE(result.error());
    if (std::string_view(reason) != "syntax")
      CHECK(result.error().find(reason) != std::string::npos);
    CHECK_FALSE(result.error().empty());
  }
  for (const char* key : {"stream", "channel", "channel_id", "position", "payload"}) {
    CAPTURE(key);
    std::string line = with("more", "1");
    line.replace(line.find(std::string("\"") + key + "\""), 2, "\"_");
    CHECK_FALSE(parse_json_line(line));
  }
}

TEST_CASE("jq_reads_what_is_written") {
  const TemporaryDirectory directory;
  const std::string file = (directory / "lines").string();
  std::ofstream(file, std::ios::binary)
      << written(batch_of({"n\xff", {7}}, {{{1}, {0}, "\u2028 x\n"}, {{1}, {1}, all_bytes()}}));
  const FinishedProgram jq =
      run_program({"/usr/bin/jq", "-c", "[.position, .stream, (.payload.value | length)]", file});
  CHECK(jq.status == 0);
  CHECK(jq.out == "[0,\"n\ufffd#7\",4]\n[1,\"n\ufffd#7\",256]\n");
}

TEST_CASE("lines_are_cut_at_newlines_alone_and_kept_up_to_their_bound") {
  const auto lines_of = [](const std::string& text, std::size_t bound) {
    std::istringstream in(text);
    LineReader reader(in, bound);
    std::vector<std::string> lines;
    while (reader.next())
      lines.push_back(std::string(reader.line()) + (reader.too_long() ? "..." : ""));
    CHECK(reader.number() == lines.size());
    return lines;
  };
  using Lines = std::vector<std::string>;
  CHECK(lines_of("", 4) == Lines{});
  CHECK(lines_of("\n", 4) == Lines{""});
  CHECK(lines_of("a\n\nb", 4) == Lines{"a", "", "b"});
  CHECK(lines_of("abcd\nabcde\nab\u2028\r\n", 4) == Lines{"abcd", "abcd...", "ab\xe2\x80..."});
  const std::string longer(200'000, 'x');
  CHECK(lines_of(longer + "\ny\n" + longer, 150'000) ==
        Lines{longer.substr(0, 150'000) + "...", "y", longer.substr(0, 150'000) + "..."});
  const std::string chunk(65'535, 'x'); // its newline is the last byte that is read at once
  CHECK(lines_of(chunk + "\n" + chunk + "\n", 100'000) == Lines{chunk, chunk});
}

TEST_CASE("lines_of_a_stream_that_breaks_end_and_the_stream_says_why") {
  class Broken : public std::streambuf {
    int_type underflow() override { throw std::runtime_error("a read error"); }
  } broken;
  std::istream in(&broken);
  LineReader reader(in, 10);
  CHECK_FALSE(reader.next());
  CHECK(in.bad());
}

TEST_CASE("a_frame_before_its_declaration_is_written_with_the_name_that_is_known") {
  const StreamId stream{"node", {1}};
  const auto names = std::make_shared<Catalog>();
  REQUIRE(names->declare_channel({stream, {1}, "known", {}, TextStream{}}));
  std::ostringstream out;
  JsonLinesWriter writer(out, "archive", names);
  writer.write(batch_of(stream, {{{1}, {0}, "a"}, {{2}, {1}, "b"}}));
  ArchivedBatch declarations;
  for (const std::uint32_t channel : {1, 2})
    declarations.declarations.push_back(std::make_shared<const ChannelDescriptor>(
        stream, ChannelId{channel}, "learnt", std::nullopt, TextStream{}));
  writer.write(declarations);
  writer.write(batch_of(stream, {{{1}, {2}, "c"}, {{2}, {3}, "d"}}));
  std::vector<std::string> channels;
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);)
    channels.push_back(parsed(line).channel.value_or("none"));
  CHECK(channels == std::vector<std::string>{"known", "none", "known", "learnt"});
}
