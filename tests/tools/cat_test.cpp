#include "tool_test.hpp"

#include <child_process.hpp>
#include <eventually.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>
#include <string>

using namespace datastream;
using namespace datastream::test;

namespace {

const std::string xs(300, 'x');

} // namespace

TEST_CASE("a_log_is_shown_stream_by_stream_with_what_is_missing") {
  const FinishedProgram all = tool({"cat", golden});
  CHECK(all.status == 0);
  CHECK(all.err.empty());
  CHECK(all.out == "== b#18446744073709551615 ==\n"
                   "#0 [x] []\n"
                   "#1 [x] []\n"
                   "#2 [x] []\n"
                   "#3    --- 18446744073709551612 missing ---\n"
                   "#18446744073709551615 [x] {}\n"
                   "== node-a#7 ==\n"
                   "#0 [runtime.log] hello\n"
                   "#1 [worker.load] {\"queue\":3}\n"
                   "#2    --- 1 missing ---\n"
                   "#3 [runtime.log] \n"
                   "== node-a#8 ==\n"
                   "#4 [9] <3 opaque bytes>\n"
                   "#5 [n\u00e4me] <300 opaque bytes>\n"
                   "#6 [n\u00e4me] <300 opaque bytes>\n");
  CHECK(tool({"cat", golden, "--stream", "node-a#7"}).out == "#0 [runtime.log] hello\n"
                                                             "#1 [worker.load] {\"queue\":3}\n"
                                                             "#2    --- 1 missing ---\n"
                                                             "#3 [runtime.log] \n");
}

TEST_CASE("a_log_is_shown_in_the_order_of_arrival") {
  const FinishedProgram all = tool({"cat", golden, "--arrivals", "--to", "4"});
  CHECK(all.status == 0);
  CHECK(all.out == "1 2025-11-30T00:00:01.000000Z node-a#7 #0 [runtime.log] hello\n"
                   "2 2025-11-30T00:00:01.000000Z node-a#7 #1 [worker.load] {\"queue\":3}\n"
                   "3 2025-11-30T00:00:02.000000Z node-a#7 #3 [runtime.log] \n"
                   "4 2025-11-30T00:00:04.000000Z node-a#8 #5 [n\u00e4me] <300 opaque bytes>\n");
  CHECK(tool({"cat", golden, "--from", "7", "--to", "7"}).out ==
        "7 1969-12-31T23:59:59.000000Z node-a#8 #6 [n\u00e4me] <300 opaque bytes>\n");
  CHECK(tool({"cat", golden, "--from", "11"}).out.empty());
  CHECK(tool({"cat", golden, "--from", "12"}).status == 3);
}

TEST_CASE("frames_are_picked_by_what_is_asked_for") {
  const auto out = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"cat", golden.string()});
    const FinishedProgram program = tool(words);
    CHECK(program.status == 0);
    CHECK(program.err.empty());
    return program.out;
  };
  const std::string hello = "#0 [runtime.log] hello\n";
  const std::string load = "#1 [worker.load] {\"queue\":3}\n";
  CHECK(out({"--stream", "node-a#7", "--positions", "1..2"}) == load + "#2    --- 1 missing ---\n");
  CHECK(out({"--stream", "node-a#7", "--positions", "..0"}) == hello);
  CHECK(out({"--stream", "node-a#7", "--positions", "3.."}) == "#3 [runtime.log] \n");
  CHECK(out({"--stream", "b#18446744073709551615", "--positions", "18446744073709551615"}) ==
        "#18446744073709551615 [x] {}\n");
  CHECK(out({"--stream", "node-a#7", "--channel", "worker.load"}) ==
        load + "#2    --- 1 missing ---\n");
  CHECK(out({"--stream", "node-a#7", "--grep", "ell"}) == hello);
  CHECK(out({"--stream", "node-a#7", "--tail", "2"}) ==
        load + "#2    --- 1 missing ---\n#3 [runtime.log] \n");
  CHECK(out({"--stream", "node-a#7", "--tail", "0"}).empty());
  CHECK(out({"--stream", "node-a#7", "--tail", "1", "--grep", "h"}) == hello);
  CHECK(out({"--stream", "node-a#7", "--tail", "9", "--grep", "none"}).empty());
  CHECK(out({"--stream", "node-a#7", "--tail", "1", "--positions", "..1"}) == load);
  CHECK(out({"--stream", "node-a#7", "--tail", "1", "--positions", "4.."}).empty());
  CHECK(out({"--stream", "b#18446744073709551615", "--tail", "2", "--channel", "x"}) ==
        "#2 [x] []\n#3    --- 18446744073709551612 missing ---\n#18446744073709551615 [x] {}\n");
  CHECK(out({"--stream", "node-a#7", "--raw"}) == "hello{\"queue\":3}");
  CHECK(out({"--stream", "node-a#8", "--raw", "--positions", "4"}) == std::string("\xff\0\n", 3));
  CHECK(out({"--raw"}) == "[][][]{}hello{\"queue\":3}" + std::string("\xff\0\n", 3) + xs + xs);
  CHECK(out({"--raw", "--arrivals", "--to", "2"}) == "hello{\"queue\":3}");

  const auto sequences = [&](std::vector<std::string> words) {
    std::string found;
    std::istringstream lines(out(std::move(words)));
    for (std::string line; std::getline(lines, line);)
      found += line.substr(0, line.find(' ')) + ' ';
    return found;
  };
  CHECK(sequences({"--arrivals"}) == "1 2 3 4 5 6 7 8 9 10 ");
  CHECK(sequences({"--arrivals", "--grep", "[]"}) == "8 9 10 ");
  CHECK(sequences({"--arrivals", "--channel", "runtime.log", "--channel", "x"}) == "1 3 6 8 9 10 ");
  CHECK(sequences({"--arrivals", "--stream", "node-a#8"}) == "4 5 7 ");
  CHECK(sequences({"--arrivals", "--stream", "node-a#8", "--stream", "node-a#7"}) ==
        "1 2 3 4 5 7 ");
  CHECK(sequences({"--arrivals", "--positions", "3..5"}) == "3 4 5 ");
  CHECK(sequences({"--since", "2025-11-30T00:00:02Z"}) == "3 4 5 6 8 9 10 ");
  CHECK(sequences({"--until", "2025-11-30T00:00:02"}) == "1 2 7 ");
  CHECK(sequences({"--since", "2025-11-30", "--until", "2025-11-30T00:00:04.000001Z"}) ==
        "1 2 3 4 5 6 ");
  CHECK(sequences({"--since", "10m"}).empty());
}

TEST_CASE("a_name_that_nothing_has_is_a_mistake_and_no_empty_answer") {
  for (const std::vector<std::string>& wanted :
       {std::vector<std::string>{"--channel", "nobody"}, {"--stream", "nobody#1"}})
    for (const char* order : {"--raw", "--arrivals", "--json", "--since=2025-11-30"}) {
      CAPTURE(wanted.back());
      CAPTURE(order);
      std::vector<std::string> words{"cat", golden, order};
      words.insert(words.end(), wanted.begin(), wanted.end());
      const FinishedProgram shown = tool(words);
      CHECK(shown.status == 3);
      CHECK(shown.out.empty());
      CHECK(shown.err.find("nobody") != std::string::npos);
    }
}

TEST_CASE("the_last_frames_that_are_wanted_are_found_however_rare_they_are") {
  const TemporaryDirectory directory;
  std::vector<Frame> frames;
  for (std::uint64_t position = 0; position < 3000; ++position)
    frames.push_back({{position % 1000 == 7 ? 1U : 2U}, {position}, std::to_string(position)});
  make_archive(directory.path(), frames);
  const FinishedProgram shown =
      tool({"cat", directory.path().string(), "--channel", "log", "--tail", "2"});
  CHECK(shown.status == 0);
  CHECK(shown.out == "#1007 [log] 1007\n#2007 [log] 2007\n");
  const TemporaryDirectory wide;
  make_archive(wide.path(), {{{1}, {0}, "first"}, {{1}, {UINT64_MAX}, "last"}});
  CHECK(tool({"cat", wide.path().string(), "--tail", "9"}).out ==
        "#0 [log] first\n#1    --- 18446744073709551614 missing ---\n"
        "#18446744073709551615 [log] last\n");
}

TEST_CASE("the_output_of_a_program_is_shown_as_lines") {
  const TemporaryDirectory directory;
  make_archive(directory.path(), {{{1}, {0}, "one\ntw"},
                                  {{2}, {1}, "{\"between\":1}"},
                                  {{1}, {2}, "o\r\n\x1b[31mred\x1b[0m\x07\n10 %\r20 %\n"},
                                  {{1}, {5}, "after a gap"}});
  const std::string path = directory.path().string();
  const FinishedProgram lines = tool({"cat", path, "--lines", "log"});
  CHECK(lines.status == 0);
  CHECK(lines.out == "one\ntwo\nred\\x07\n20 %\n#3    --- 2 missing ---\nafter a gap\n");
  CHECK(tool({"cat", path, "--lines", "log", "--grep", "t"}).out == "two\nafter a gap\n");
  CHECK(tool({"cat", path, "--lines", "log", "--raw"}).out ==
        "one\ntwo\n\x1b[31mred\x1b[0m\x07\n20 %\nafter a gap\n");
}

TEST_CASE("the_records_of_a_channel_are_shown_over_their_positions") {
  const TemporaryDirectory directory;
  make_archive(directory.path(), {{{2}, {0}, "{\"b\":1,\"a\":[1.50]}"},
                                  {{1}, {1}, "{}"},
                                  {{2}, {2}, "no record"},
                                  {{2}, {3}, "7"}});
  const FinishedProgram series = tool({"cat", directory.path().string(), "--series", "load"});
  CHECK(series.status == 0);
  CHECK(series.err == "datastream-archive: 1 frames of load are no JSON\n");
  std::istringstream lines(series.out);
  std::vector<nlohmann::json> records;
  for (std::string line; std::getline(lines, line);)
    records.push_back(nlohmann::json::parse(line));
  CHECK(records ==
        std::vector<nlohmann::json>{
            nlohmann::json::parse(R"({"position":0,"record":{"a":[1.5],"b":1},"stream":"node#1"})"),
            nlohmann::json::parse(R"({"position":3,"record":7,"stream":"node#1"})")});
}

TEST_CASE("nothing_that_is_shown_to_people_controls_their_terminal") {
  const TemporaryDirectory directory;
  std::string hostile;
  for (int byte = 0; byte < 256; ++byte)
    hostile += static_cast<char>(byte);
  const StreamId stream{"\x1b]0;title\x07\n", {1}};
  const std::string utf8 = "\x1b[2J\u0085\u009b31m\u202e\u2028\u2066 \\ ok \u00e4\U0001f600\n";
  const auto archive = Archive::open(directory.path());
  REQUIRE(archive);
  (*archive)->declare(std::make_shared<const StreamDescriptor>(stream, "label\x1b[31m"));
  (*archive)->declare(std::make_shared<const ChannelDescriptor>(
      stream, ChannelId{1}, "channel\x1b[31m\r", std::nullopt, TextStream{}));
  (*archive)->append(FrameBatch::copy_of(
      stream, std::vector<Frame>{{{1}, {0}, utf8}, {{1}, {1}, hostile}, {{3}, {2}, hostile}}));
  REQUIRE((*archive)->close());
  const std::string path = directory.path().string();
  for (const std::vector<std::string>& words : {std::vector<std::string>{"cat", path},
                                                {"cat", path, "--arrivals"},
                                                {"cat", path, "--tail", "9"},
                                                {"cat", path, "--lines", "channel\x1b[31m\r"},
                                                {"cat", path, "--stream", "none\x1b[31m#1"},
                                                {"info", path},
                                                {"info", path, "--json"},
                                                {"cat", path, "--json"},
                                                {"cat", "none\x1b[31m"},
                                                {"cat", path, "--channel", "\x1b[31m"},
                                                {"import", path, "none\x1b[31m"}}) {
    CAPTURE(words.back());
    const FinishedProgram shown = tool(words);
    const std::string text = shown.out + shown.err;
    CHECK_FALSE(text.empty());
    CHECK(std::ranges::none_of(text, [](char c) {
      return c != '\n' && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f);
    }));
    if (std::ranges::find(words, "--json") == words.end()) // which leaves them to its readers
      for (const char* code : {"\u0085", "\u009b", "\u202e", "\u2028", "\u2066"})
        CHECK(text.find(code) == std::string::npos);
  }
  const std::string log = tool({"cat", path}).out;
  CHECK(log.find("\\x1b[2J\\u0085\\u009b31m\\u202e\\u2028\\u2066 \\ ok \u00e4\U0001f600\\n") !=
        std::string::npos);
  CHECK(tool({"cat", path, "--raw"}).out == utf8 + hostile + hostile);
}

TEST_CASE("what_is_damaged_is_named_and_everything_else_shown") {
  const std::string sealed = "seg_0000000000001.0.dss";
  const std::string active = "seg_0000000000010.0.dss";
  struct Damage {
    std::string file;
    std::size_t byte;
    std::string lost;
    std::size_t frames; ///< that are left
  };
  for (const Damage& damage :
       {Damage{sealed, 410, "(sequences 1 to 3)", 7}, Damage{sealed, 20, "(sequences 1 to 3)", 7},
        Damage{active, 440, "(sequences 4 to 7)", 6}, Damage{active, 240, "(sequences 4 to 7)", 6},
        Damage{active, 640, "(sequences 8 to 10)", 7}}) {
    const TemporaryDirectory directory;
    damage_golden(directory.path(), damage.file, damage.byte);
    const std::string path = directory.path().string();
    CAPTURE(damage.file);
    CAPTURE(damage.byte);
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"cat", path}, {"cat", path, "--arrivals"}, {"export", path}}) {
      const FinishedProgram shown = tool(words);
      CAPTURE(shown.err);
      CAPTURE(shown.out);
      CHECK(shown.status == 1);
      CHECK(shown.err.find(damage.lost) != std::string::npos);
      std::size_t frames = 0;
      std::istringstream lines(shown.out);
      for (std::string line; std::getline(lines, line);)
        frames += line.find(" ---") == std::string::npos && !line.starts_with("==");
      CHECK(frames == damage.frames);
    }
    const FinishedProgram verified = tool({"verify", path});
    CHECK(verified.status == 1);
    CHECK(verified.out.find(damage.lost) != std::string::npos);
    const FinishedProgram told = tool({"info", path});
    CHECK(told.status == (damage.byte == 20 || damage.byte == 240 ? 1 : 0));
  }
}

TEST_CASE("names_that_are_damaged_cost_no_frames") {
  const TemporaryDirectory directory;
  damage_golden(directory.path(), "seg_0000000000001.0.dss", 140);
  for (const char* order : {"--json", "--raw"}) {
    const FinishedProgram shown = tool({"cat", directory.path().string(), order});
    CHECK(shown.status == 1);
    CHECK(shown.err.find("seg_0000000000001.0.dss at byte 64") != std::string::npos);
    CHECK(shown.out.find("hello") != std::string::npos);
  }
}

TEST_CASE("lines_go_on_behind_what_is_lost_and_none_is_shown_twice") {
  const TemporaryDirectory directory;
  const StreamId stream{"node", {1}};
  {
    const auto archive = Archive::open(directory.path());
    REQUIRE(archive);
    (*archive)->declare(std::make_shared<const ChannelDescriptor>(stream, ChannelId{1}, "log",
                                                                  std::nullopt, TextStream{}));
    const char* payloads[] = {"one\ntwo\nthr", "ee\nfour\nfi", "lost\n", "behind\n"};
    for (std::uint64_t position = 0; position < 4; ++position) { // a block for each
      (*archive)->append(
          FrameBatch::copy_of(stream, std::vector<Frame>{{{1}, {position}, payloads[position]}}));
      REQUIRE((*archive)->flush());
    }
  }
  const auto segment = directory / "seg_0000000000001.0.dss";
  std::string bytes = content(segment);
  const auto at = bytes.find("lost\n");
  REQUIRE(at != std::string::npos);
  bytes[at] ^= 1;
  std::ofstream(segment, std::ios::binary) << bytes;
  const FinishedProgram lines = tool({"cat", directory.path().string(), "--lines", "log"});
  CHECK(lines.status == 1);
  CHECK(lines.err.find("(sequences 3 to 3)") != std::string::npos);
  CHECK(lines.out == "one\ntwo\nthree\nfour\nfi\n#2    --- 1 missing ---\nbehind\n");
  CHECK(tool({"cat", directory.path().string(), "--tail", "3"}).out ==
        "#0 [log] one\\ntwo\\nthr\n#1 [log] ee\\nfour\\nfi\n#2    --- 1 missing ---\n"
        "#3 [log] behind\\n\n");
}

TEST_CASE("what_will_come_is_followed_until_nobody_reads_it") {
  const TemporaryDirectory directory;
  const StreamId stream{"node", {1}};
  const auto archive = Archive::open(directory.path());
  REQUIRE(archive);
  const auto append = [&](std::uint64_t position) {
    (*archive)->append(FrameBatch::copy_of(
        stream, std::vector<Frame>{{{1}, {position}, "text " + std::to_string(position)}}));
    REQUIRE((*archive)->flush());
  };
  append(0);
  {
    ChildProcess follower({ARCHIVE_TOOL, "cat", directory.path().string(), "--follow"});
    for (std::uint64_t position = 0; position < 20; ++position) {
      const auto line = follower.read_line();
      REQUIRE(line);
      CHECK(line->starts_with(std::to_string(position + 1) + " "));
      append(position + 1);
    }
    follower.signal(SIGTERM);
    CHECK(follower.reap() == 128 + SIGTERM);
  }
  const FinishedProgram bounded =
      tool({"cat", directory.path().string(), "--follow", "--from", "3", "--to", "5"});
  CHECK(bounded.status == 0);
  CHECK(std::ranges::count(bounded.out, '\n') == 3);
  // Nothing new comes, and whoever reads has gone.
  const FinishedProgram left = in_shell("$0 cat " + directory.path().string() +
                                        " --follow | head -n 1 > /dev/null; exit ${PIPESTATUS[0]}");
  CHECK(left.status == 0);
  CHECK(left.err.empty());
}

TEST_CASE("frames_before_their_declaration_have_its_name_in_every_form") {
  const TemporaryDirectory directory;
  const StreamId stream{"node", {1}};
  {
    const auto archive = Archive::open(directory.path());
    REQUIRE(archive);
    (*archive)->append(FrameBatch::copy_of(stream, std::vector<Frame>{{{1}, {0}, "early\n"}}));
    REQUIRE((*archive)->flush());
    (*archive)->declare(std::make_shared<const ChannelDescriptor>(stream, ChannelId{1}, "log",
                                                                  std::nullopt, TextStream{}));
    (*archive)->append(FrameBatch::copy_of(stream, std::vector<Frame>{{{1}, {1}, "late\n"}}));
    REQUIRE((*archive)->close());
  }
  for (const bool by_arrival : {false, true}) {
    CAPTURE(by_arrival);
    std::vector<std::string> words{"cat", directory.path(), "--channel", "log"};
    if (by_arrival)
      words.emplace_back("--arrivals");
    const FinishedProgram named = tool(words);
    CHECK(named.status == 0);
    CHECK(named.out.find("[log] early") != std::string::npos);
    CHECK(named.out.find("[log] late") != std::string::npos);
  }
  const FinishedProgram exported = tool({"export", directory.path()});
  CHECK(exported.status == 0);
  CHECK(exported.out.find("early") != std::string::npos);
  CHECK(exported.out.find("channel#1") == std::string::npos);
}
