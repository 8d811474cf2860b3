#include "tool_test.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstring>
#include <random>
#include <sstream>
#include <string>
#include <vector>

using namespace datastream;
using namespace datastream::test;
namespace fs = std::filesystem;

namespace {

/// Frames with every kind of payload.
std::vector<Frame> mixed_frames() {
  std::mt19937 random(11);
  std::vector<Frame> frames;
  for (std::uint64_t position = 0; position < 500; ++position) {
    std::string payload;
    for (std::size_t length = random() % 40; length > 0; --length)
      payload += static_cast<char>(position % 2 ? random() : ' ' + random() % 90);
    frames.push_back({{static_cast<std::uint32_t>(position % 4)}, {position * 3}, payload});
  }
  return frames;
}

} // namespace

TEST_CASE("what_is_in_an_archive_is_told") {
  const FinishedProgram text = tool({"info", golden});
  CHECK(text.status == 0);
  CHECK(text.err.empty());
  CHECK(text.out ==
        "durable up to sequence 10\n"
        "source orchestrator\n"
        "seg_0000000000001.0.dss sealed, 801 bytes, 2 blocks, 3 frames from sequence 1\n"
        "seg_0000000000010.0.dss open, 803 bytes, 4 blocks, 7 frames from sequence 4\n"
        "b#18446744073709551615, 4 frames, positions 0 to 18446744073709551615, arrived "
        "2025-11-30T00:00:04.000000Z to 2025-11-30T00:00:05.000000Z, "
        "18446744073709551612 missing\n"
        "  \n"
        "  channel 4294967295 [x] records\n"
        "node-a#7, 3 frames, positions 0 to 3, arrived 2025-11-30T00:00:01.000000Z to "
        "2025-11-30T00:00:02.000000Z, 2 missing, ended after 5\n"
        "  example\n"
        "  channel 1 [runtime.log] text\n"
        "  channel 2 [worker.load] records load.v1\n"
        "node-a#8, 3 frames, positions 4 to 6, arrived 1969-12-31T23:59:59.000000Z to "
        "2025-11-30T00:00:04.000000Z, 3 missing, ended after 8\n"
        "  channel 1 [n\u00e4me] bytes\n");
  const FinishedProgram json = tool({"info", golden, "--json"});
  CHECK(json.status == 0);
  const auto told = nlohmann::json::parse(json.out);
  CHECK(told["last_sequence"] == 10);
  CHECK(told["source"] == "orchestrator");
  CHECK(told["segments"].size() == 2);
  CHECK(told["segments"][1]["sealed"] == false);
  CHECK(told["holes"].empty());
  CHECK(told["streams"][1]["stream"] == "node-a#7");
  CHECK(told["streams"][1]["channels"][1]["content"] == "records load.v1");
  CHECK(told["streams"][0]["highest"] == UINT64_MAX);
}

TEST_CASE("a_hole_is_told_and_the_rest_besides") {
  const TemporaryDirectory directory;
  damage_golden(directory.path(), "", 0);
  fs::remove(directory / "seg_0000000000001.0.dss");
  const FinishedProgram text = tool({"info", directory.path()});
  CHECK(text.status == 1);
  CHECK(text.err.find("(sequences 1 to 3)") != std::string::npos);
  CHECK(text.out.find("node-a#8, 3 frames") != std::string::npos);
  const FinishedProgram json = tool({"info", directory.path(), "--json"});
  CHECK(json.status == 1);
  const auto told = nlohmann::json::parse(json.out);
  REQUIRE(told["holes"].size() == 1);
  CHECK(told["holes"][0]["first"] == 1);
  CHECK(told["holes"][0]["last"] == 3);
  CHECK(told["holes"][0]["kind"] == "missing");
}

TEST_CASE("an_archive_that_is_whole_is_said_to_be") {
  const FinishedProgram verified = tool({"verify", golden});
  CHECK(verified.status == 0);
  CHECK(verified.out == "all is well up to sequence 10\n");
  CHECK(verified.err.empty());
}

TEST_CASE("a_tip_that_is_damaged_is_told_by_every_command") {
  const TemporaryDirectory directory;
  damage_golden(directory.path(), "tip", 4096 + 50);
  const std::string path = directory.path().string();
  for (const std::vector<std::string>& words : {std::vector<std::string>{"verify", path},
                                                {"info", path},
                                                {"cat", path},
                                                {"cat", path, "--arrivals"},
                                                {"export", path}}) {
    CAPTURE(words.front());
    const FinishedProgram told = tool(words);
    CHECK(told.status == 1);
    CHECK((told.out + told.err).find("tip at byte 4096") != std::string::npos);
  }
}

TEST_CASE("the_exit_status_tells_usage_from_what_could_not_be_done") {
  for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                {"other"},
                                                {"cat"},
                                                {"cat", golden, "more"},
                                                {"cat", golden, "--stream", "node-a"},
                                                {"cat", golden, "--stream", "node-a#07"},
                                                {"cat", golden, "--positions", "2..1"},
                                                {"cat", golden, "--positions", ".."},
                                                {"cat", golden, "--positions", "x"},
                                                {"cat", golden, "--from", "-1"},
                                                {"cat", golden, "--tail", "-1"},
                                                {"export", golden, "--to", "x"},
                                                {"cat", golden, "--since", "yesterday"},
                                                {"cat", golden, "--since", "2025-02-30"},
                                                {"cat", golden, "--tail", "1", "--lines", "x"},
                                                {"cat", golden, "--tail", "1", "--json"},
                                                {"cat", golden, "--raw", "--json"},
                                                {"cat", golden, "--raw", "--series", "x"},
                                                {"cat", golden, "--lines", "x", "--channel", "x"},
                                                {"cat", golden, "--series", "x", "--follow"},
                                                {"import", golden},
                                                {"verify"},
                                                {"reindex", "--json", golden}}) {
    CAPTURE(words.size() < 3 ? "" : words[2]);
    const FinishedProgram program = tool(words);
    CHECK(program.status == 2);
    CHECK(program.out.empty());
    CHECK_FALSE(program.err.empty());
  }
  const TemporaryDirectory nothing;
  const std::string path = nothing.path().string();
  for (const std::vector<std::string>& words : {std::vector<std::string>{"cat", path},
                                                {"cat", path + "/none"},
                                                {"info", path},
                                                {"verify", path},
                                                {"export", path},
                                                {"reindex", path},
                                                {"import", path + "/a", path},
                                                {"import", path + "/a", path + "/none"},
                                                {"cat", golden, "--stream", "other#1"},
                                                {"cat", golden, "--channel", "other"},
                                                {"cat", golden, "--lines", "other"},
                                                {"cat", golden, "--series", "other"}}) {
    CAPTURE(words.front());
    CAPTURE(words.back());
    const FinishedProgram program = tool(words);
    CHECK(program.status == 3);
    CHECK(program.out.empty());
    CHECK(program.err.starts_with("datastream-archive: "));
  }
  CHECK_FALSE(fs::exists(nothing / "a"));
  for (const char* word : {"--help", "--version"}) {
    const FinishedProgram program = tool({word});
    CHECK(program.status == 0);
    CHECK_FALSE(program.out.empty());
    CHECK(program.err.empty());
  }
}

TEST_CASE("what_is_exported_is_imported_as_it_was") {
  const TemporaryDirectory directory;
  const fs::path first = directory / "first";
  const fs::path second = directory / "second";
  make_archive(first, mixed_frames(), {"n\xff#\n", {UINT64_MAX}});
  const FinishedProgram exported = tool({"export", first, "--source", "orchestrator"});
  CHECK(exported.status == 0);
  CHECK(tool({"export", first}).out == tool({"cat", first, "--json"}).out);
  const fs::path file = directory / "lines";
  std::ofstream(file, std::ios::binary) << exported.out;
  const FinishedProgram imported = tool({"import", second, file});
  CHECK(imported.status == 0);
  CHECK(imported.err.empty());
  CHECK(imported.out == "500 lines, 500 frames\n  500 stored\n");
  CHECK(tool({"export", second, "--source", "orchestrator"}).out == exported.out);
  CHECK(tool({"cat", second, "--raw"}).out == tool({"cat", first, "--raw"}).out);

  const FinishedProgram again = tool({"import", second, file});
  CHECK(again.status == 0);
  CHECK(again.out == "500 lines, 500 frames\n"
                     "  500 were stored already, nobody knows whether they differ\n");
  CHECK(tool({"export", second, "--from", "10", "--to", "20"}).out ==
        tool({"export", first, "--from", "10", "--to", "20"}).out);

  const FinishedProgram jq = run_program(
      {"/usr/bin/jq", "-s", "-c", "[length, ([.[].payload.value | length] | add > 0)]", file});
  CHECK(jq.out == "[500,true]\n");
}

TEST_CASE("lines_have_the_source_that_the_archive_was_given") {
  const TemporaryDirectory directory;
  const fs::path archive = directory / "archive";
  const auto lines_of = [&](const FinishedProgram& program, const std::string& source) {
    CHECK(program.status == 0);
    std::size_t lines = 0;
    std::istringstream in(program.out);
    for (std::string line; std::getline(in, line); ++lines)
      CHECK(nlohmann::json::parse(line)["source"] == source);
    return lines;
  };
  make_archive(archive, mixed_frames());
  CHECK(lines_of(tool({"export", archive}), "archive") == 500); // which says nothing
  CHECK(nlohmann::json::parse(tool({"info", archive, "--json"}).out)["source"].is_null());
  CHECK(tool({"info", archive}).out.find("source") == std::string::npos);

  const fs::path file = directory / "lines";
  std::ofstream(file, std::ios::binary) << tool({"export", archive, "--source", "a peer"}).out;
  const fs::path named = directory / "named";
  CHECK(tool({"import", named, file, "--source", "orchestrator"}).status == 0);
  CHECK(lines_of(tool({"export", named}), "orchestrator") == 500);
  CHECK(lines_of(tool({"cat", named, "--json"}), "orchestrator") == 500);
  CHECK(lines_of(tool({"export", named, "--source", "other"}), "other") == 500);
  CHECK(tool({"info", named}).out.find("\nsource orchestrator\n") != std::string::npos);

  const fs::path unnamed = directory / "unnamed";
  CHECK(tool({"import", unnamed, file}).status == 0);
  CHECK(lines_of(tool({"export", unnamed}), "archive") == 500); // lines may differ in it
}

TEST_CASE("bad_lines_are_named_and_the_others_imported") {
  const TemporaryDirectory directory;
  const fs::path file = directory / "lines";
  std::ofstream(file)
      << R"({"stream":"a#1","channel":"log","channel_id":1,"position":0,"payload":"zero"})"
      << "\nnonsense\x1b[31m\n"
      << R"({"stream":"a#1","channel":"log","channel_id":1,"position":0,"payload":"other"})"
      << "\n"
      << R"({"stream":"a#1","channel":"log","channel_id":1,"position":1,"payload":"one"})";
  const FinishedProgram imported = tool({"import", directory / "archive", file});
  CHECK(imported.status == 1);
  CHECK(imported.out == "4 lines, 3 frames\n  2 stored\n"
                        "  1 differ from what was stored already, which stays\n  1 bad lines\n");
  CHECK(imported.err.starts_with("datastream-archive: " + file.string() + ":2: "));
  CHECK(tool({"cat", directory / "archive", "--raw"}).out == "zeroone");
}

TEST_CASE("frames_that_differ_from_what_is_stored_are_a_fault_of_an_import") {
  const TemporaryDirectory directory;
  const fs::path file = directory / "lines";
  std::ofstream(file)
      << R"({"stream":"a#1","channel":"log","channel_id":1,"position":0,"payload":"zero"})"
      << "\n"
      << R"({"stream":"a#1","channel":"log","channel_id":1,"position":0,"payload":"other"})";
  const FinishedProgram imported = tool({"import", directory / "archive", file});
  CHECK(imported.status == 1);
  CHECK(imported.out == "2 lines, 2 frames\n  1 stored\n"
                        "  1 differ from what was stored already, which stays\n");
  CHECK(imported.err == "datastream-archive: 1 frames differ from what was stored already\n");
}

TEST_CASE("a_source_that_an_import_does_not_keep_is_a_fault") {
  const TemporaryDirectory directory;
  const fs::path archive = directory / "archive";
  make_archive(archive, mixed_frames());
  const fs::path file = directory / "lines";
  std::ofstream(file, std::ios::binary) << tool({"export", archive}).out;
  const FinishedProgram known = tool({"import", archive, file, "--source", "a peer"});
  CHECK(known.status == 1);
  CHECK(known.err.find("does not say the source a peer") != std::string::npos);
  CHECK(tool({"info", archive}).out.find("source") == std::string::npos);

  std::ofstream(file)
      << R"({"stream":"a#1","channel":"log","channel_id":1,"position":0,"payload":"zero"})";
  CHECK(tool({"import", archive, file, "--source", "a peer"}).status == 0);
  CHECK(tool({"info", archive}).out.find("\nsource a peer\n") != std::string::npos);
  CHECK(tool({"import", archive, file, "--source", "a peer"}).status == 0); // which it says
}

TEST_CASE("a_pipe_is_refused_before_an_archive_is_made_for_it") {
  const TemporaryDirectory directory;
  const std::string line =
      R"({"stream":"a#1","channel":"log","channel_id":1,"position":0,"payload":"zero"})";
  const std::string archive = (directory / "archive").string();
  const FinishedProgram piped = in_shell("$0 import " + archive + " <(echo '" + line + "')");
  CHECK(piped.status == 3);
  CHECK(piped.out.empty());
  CHECK(piped.err.find("pipe") != std::string::npos);
  CHECK_FALSE(fs::exists(archive));
  const fs::path file = directory / "lines";
  std::ofstream(file) << line;
  CHECK(in_shell("$0 import " + archive + " /dev/stdin <" + file.string()).status == 0);
}

TEST_CASE("what_an_import_cuts_off_when_it_opens_the_archive_is_said") {
  const TemporaryDirectory directory;
  make_archive(directory / "archive", mixed_frames());
  std::ofstream(directory / "archive/seg_0000000000001.0.dss", std::ios::binary | std::ios::app)
      << std::string(100, 'x');
  std::ofstream(directory / "lines");
  const FinishedProgram imported = tool({"import", directory / "archive", directory / "lines"});
  CHECK(imported.status == 0);
  CHECK(imported.err == "datastream-archive: cut off 100 bytes that were never acknowledged\n");
  CHECK(imported.out == "0 lines, 0 frames\n");
}

TEST_CASE("a_directory_that_is_no_archive_stays_as_it_is") {
  const TemporaryDirectory directory;
  fs::create_directory(directory / "index");
  std::ofstream(directory / "index" / "000001.log") << "of somebody else";
  const FinishedProgram done = tool({"reindex", directory.path()});
  CHECK(done.status == 3);
  CHECK(done.err.find("there is no archive") != std::string::npos);
  CHECK(content(directory / "index" / "000001.log") == "of somebody else");
  CHECK(std::distance(fs::recursive_directory_iterator(directory.path()), {}) == 2);
}

TEST_CASE("an_index_is_made_anew_while_nobody_writes") {
  const TemporaryDirectory directory;
  make_archive(directory.path(), mixed_frames());
  const std::string before = tool({"export", directory.path()}).out;
  fs::remove_all(directory / "index");
  const FinishedProgram done = tool({"reindex", directory.path()});
  CHECK(done.status == 0);
  CHECK(done.err.empty());
  CHECK(done.out == "the index was made anew\n");
  CHECK(tool({"export", directory.path()}).out == before);
  const auto archive = Archive::open(directory.path());
  REQUIRE(archive);
  CHECK((*archive)->append(FrameBatch::copy_of({"node", {1}}, mixed_frames())).duplicates +
            (*archive)->ledger().unverified ==
        500);
  const FinishedProgram locked = tool({"reindex", directory.path()});
  CHECK(locked.status == 3);
  CHECK(locked.err.find("open for writing") != std::string::npos);
}

TEST_CASE("frames_that_are_gone_are_accepted_by_reindex_and_named") {
  const TemporaryDirectory directory;
  make_archive(directory.path(), mixed_frames());
  const fs::path segment = directory / "seg_0000000000001.0.dss";
  fs::resize_file(segment, fs::file_size(segment) - 1);
  const FinishedProgram done = tool({"reindex", directory.path()});
  CHECK(done.status == 1);
  CHECK(done.err.find("(sequences 1 to 500)") != std::string::npos);
  CHECK(tool({"verify", directory.path()}).status == 1);
}

TEST_CASE("every_command_of_the_user_guide_works") {
  const TemporaryDirectory directory;
  const StreamId stream{"demo", {1}};
  {
    const auto archive = Archive::open(directory / "demo-archive");
    REQUIRE(archive);
    (*archive)->declare(std::make_shared<const ChannelDescriptor>(stream, ChannelId{1}, "demo.log",
                                                                  std::nullopt, TextStream{}));
    (*archive)->declare(std::make_shared<const ChannelDescriptor>(stream, ChannelId{2}, "demo.load",
                                                                  std::nullopt, JsonRecord{}));
    (*archive)->append(FrameBatch::copy_of(
        stream, std::vector<Frame>{{{1}, {0}, "line 1\n"}, {{2}, {1}, "{\"queue\":1}"}}));
  }
  std::istringstream lines(content(fs::path(DATASTREAM_SOURCE_DIR) / "docs/user_guide.md"));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("    datastream-archive "))
      continue;
    CAPTURE(line);
    // What follows the writer is ended as Ctrl-C would end it.
    const bool follows = line.find("--follow") != std::string::npos;
    std::string command = line.substr(std::string("    datastream-archive").size());
    command = std::string("set -o pipefail; cd ") + directory.path().string() + "; " +
              (follows ? "timeout -s INT 1 $0" : "$0") + command;
    const FinishedProgram program = in_shell(command);
    CHECK(program.status == (follows ? 124 : 0));
    CHECK(program.err.empty());
    if (line.find('>') == std::string::npos)
      CHECK_FALSE(program.out.empty());
    ++count;
  }
  CHECK(count >= 14);
  CHECK(content(directory / "demo.log") == "line 1\n");
}

TEST_CASE("a_closed_pipe_does_not_hide_what_was_found_to_be_wrong") {
  const TemporaryDirectory directory;
  const fs::path archive = directory / "archive";
  std::vector<Frame> frames;
  for (std::uint64_t position = 0; position < 20'000; ++position)
    frames.push_back({{1}, {position}, "more than a pipe can hold"});
  make_archive(archive, frames);
  std::string tip = content(archive / "tip");
  const auto count_at = [&](std::size_t place) {
    std::uint64_t count = 0;
    std::memcpy(&count, tip.data() + place + 32, sizeof count);
    return count;
  };
  tip[count_at(0) < count_at(4096) ? 0 : 4096] ^= 1; // the earlier one: all frames are there
  std::ofstream(archive / "tip", std::ios::binary) << tip;
  for (const char* words : {"cat", "cat --arrivals"}) {
    const std::string command = std::string("$0 ") + words + ' ' + archive.string();
    CAPTURE(command);
    REQUIRE(in_shell(command + " > /dev/null").status == 1);
    const FinishedProgram closed = in_shell(command + " | head -n 1; exit ${PIPESTATUS[0]}");
    CHECK(closed.status == 1);
    CHECK_FALSE(closed.out.empty());
  }
}

TEST_CASE("a_closed_pipe_ends_the_program_quietly_and_a_full_disk_does_not") {
  const TemporaryDirectory directory;
  std::vector<Frame> frames;
  for (std::uint64_t position = 0; position < 20'000; ++position)
    frames.push_back({{1}, {position}, "more than a pipe can hold"});
  make_archive(directory.path(), frames);
  for (const char* words : {"cat", "cat --arrivals", "export"}) {
    const std::string command = std::string("$0 ") + words + ' ' + directory.path().string();
    CAPTURE(command);
    const FinishedProgram closed = in_shell(command + " | head -n 1; exit ${PIPESTATUS[0]}");
    CHECK(closed.status == 0);
    CHECK(closed.err.empty());
    CHECK_FALSE(closed.out.empty());
    const FinishedProgram full = in_shell(command + " > /dev/full");
    CHECK(full.status == 3);
    CHECK(full.err == "datastream-archive: cannot write the results: No space left on device\n");
  }
}
