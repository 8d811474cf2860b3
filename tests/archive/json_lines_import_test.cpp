#include "archive_test_support.hpp"

#include <datastream/archive/archive.hpp>
#include <datastream/archive/json_lines.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <streambuf>
#include <string>
#include <vector>

using namespace datastream;
using namespace datastream::test;

namespace {

/// A line as the orchestrator writes it.
std::string line(std::string_view stream, std::string_view channel, std::uint32_t id,
                 std::uint64_t position, std::string_view payload, int milliseconds = 1000) {
  std::ostringstream out;
  out << R"({"arrival_seq":0,"arrival_unix_ms":)" << milliseconds << R"(,"channel":")" << channel
      << R"(","channel_id":)" << id << R"(,"payload":{"encoding":"utf8","value":")" << payload
      << R"("},"position":)" << position << R"(,"source":"orchestrator","stream":")" << stream
      << "\"}\n";
  return out.str();
}

struct Import {
  std::expected<ImportReport, ArchiveError> report;
  std::vector<BadLine> bad;
};

Import import(Archive& archive, std::istream& in) {
  Import result;
  result.report =
      import_json_lines(in, archive, [&](const BadLine& bad) { result.bad.push_back(bad); });
  return result;
}

Import import(Archive& archive, const std::string& text) {
  std::istringstream in(text);
  return import(archive, in);
}

/// Text whose reading breaks off behind it.
class BreakingText : public std::streambuf {
public:
  explicit BreakingText(std::string text) : text_(std::move(text)) {
    setg(text_.data(), text_.data(), text_.data() + text_.size());
  }

private:
  int_type underflow() override { throw std::runtime_error("a read error"); }
  pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override { return 0; }
  std::string text_;
};

} // namespace

TEST_CASE("frames_of_lines_are_stored_in_their_order_with_their_names_and_times") {
  const TemporaryDirectory directory;
  const auto archive = opened(directory.path());
  const Import done = import(
      *archive,
      line("a#b#7", "log", 1, 5, "five", 1000) + line("a#b#7", "log", 1, 4, "four", 2000) +
          line("c#1", "channel#3", 3, 0, "unknown", 2000) +
          R"({"stream":"a#b#7","channel":"load","channel_id":2,"position":6,"payload":"x"})");
  REQUIRE(done.report);
  CHECK(done.report->lines == 4);
  CHECK(done.report->bad_lines == 0);
  CHECK(done.report->frames == 4);
  CHECK(done.report->appended.taken == 4);
  const StreamId a{"a#b", {7}};
  const StreamId c{"c", {1}};
  CHECK(frames_in(directory.path()) == std::vector<StoredFrame>{{1, a, {{1}, {5}, "five"}},
                                                                {2, a, {{1}, {4}, "four"}},
                                                                {3, c, {{3}, {0}, "unknown"}},
                                                                {4, a, {{2}, {6}, "x"}}});
  CHECK(archive->catalog().find_channel(a, ChannelId{1})->name == "log");
  CHECK(archive->catalog().find_channel(a, ChannelId{2})->content == ChannelContent(Bytes{}));
  CHECK_FALSE(archive->catalog().find_channel(c, ChannelId{3}));

  const auto segment =
      SegmentFile::open(posix_file_system(), directory / segment_names(directory.path()).front());
  std::vector<std::int64_t> arrivals;
  for (BlockPlace place = segment->begin(); place.offset < *segment->size();) {
    const auto entry = segment->read_entry(place, *segment->size());
    REQUIRE(entry);
    for (const auto& batch : entry->directory.batches)
      arrivals.push_back(batch.arrival);
    place = behind(*entry);
  }
  REQUIRE(arrivals.size() == 4);
  CHECK(arrivals[0] == 1'000'000);
  CHECK(arrivals[1] == 2'000'000);
  CHECK(arrivals[2] == 2'000'000);
  CHECK(arrivals[3] > 1'700'000'000'000'000); // now
}

TEST_CASE("bad_lines_are_told_with_their_numbers_counted_and_skipped") {
  const TemporaryDirectory directory;
  const auto archive = opened(directory.path());
  const Import done =
      import(*archive, line("a#1", "log", 1, 0, "0") + "\n" + line("a#1", "log", 1, 1, "1") +
                           line("a#1", "other", 1, 2, "2") + line("a", "log", 1, 3, "3") +
                           line("a#1", "log", 1, 4, "4").substr(0, 50));
  REQUIRE(done.report);
  CHECK(done.report->lines == 6);
  CHECK(done.report->bad_lines == 4);
  CHECK(done.report->frames == 2);
  REQUIRE(done.bad.size() == 4);
  CHECK(done.bad[0].number == 2);
  CHECK(done.bad[1].number == 4);
  CHECK(done.bad[1].reason == "`channel_id` 1 has another name: log");
  CHECK(done.bad[2].number == 5);
  CHECK(done.bad[3].number == 6);
  CHECK(frames_in(directory.path()).size() == 2);
}

TEST_CASE("a_channel_keeps_the_name_and_content_that_the_archive_knows") {
  const TemporaryDirectory directory;
  const auto archive = opened(directory.path());
  const StreamId stream{"a", {1}};
  archive->declare(channel_declaration(stream, 1, "log"));
  const Import done =
      import(*archive, line("a#1", "other", 1, 0, "") + line("a#1", "log", 1, 1, "") +
                           line("a#1", "channel#1", 1, 2, "") + line("a#1", "log", 9, 3, ""));
  REQUIRE(done.report);
  CHECK(done.report->bad_lines == 1);
  CHECK(done.bad.front().number == 1);
  CHECK(done.report->frames == 3);
  CHECK(archive->catalog().find_channel(stream, ChannelId{1})->content ==
        ChannelContent(TextStream{}));
  CHECK(archive->ledger().conflicting_declarations == 0);
}

TEST_CASE("what_is_stored_already_is_not_stored_again") {
  const TemporaryDirectory directory;
  std::string text;
  for (std::uint64_t position = 0; position < 3000; ++position)
    text += line(position % 2 ? "a#1" : "b#2", "log", 1, position, std::to_string(position));
  const auto archive = opened(directory.path());
  const Import half = import(*archive, text.substr(0, text.size() / 2));
  REQUIRE(half.report);
  CHECK(half.report->bad_lines == 1); // which was cut in the middle
  const Import whole = import(*archive, text);
  REQUIRE(whole.report);
  CHECK(whole.report->frames == 3000);
  CHECK(whole.report->appended.duplicates == half.report->frames);
  CHECK(whole.report->appended.taken == 3000 - half.report->frames);
  CHECK(frames_in(directory.path()).size() == 3000);
  const Import again =
      import(*archive, text + line("a#1", "log", 1, 1, "another payload, first wins"));
  CHECK(again.report->appended.duplicates == 3000);
  CHECK(again.report->appended.conflicts == 1);
  CHECK(archive->ledger().balanced());
}

TEST_CASE("an_import_that_cannot_be_read_to_its_end_changes_nothing") {
  const TemporaryDirectory directory;
  const auto archive = opened(directory.path());
  for (const bool seeks : {true, false}) {
    CAPTURE(seeks);
    BreakingText broken(line("a#1", "log", 1, 0, "0"));
    struct Pipe : std::streambuf {
    } pipe; // cannot seek
    std::istream in(seeks ? static_cast<std::streambuf*>(&broken) : &pipe);
    const Import done = import(*archive, in);
    REQUIRE_FALSE(done.report);
    CHECK(done.report.error().kind == ArchiveError::Kind::bad_input);
  }
  CHECK(*archive->flush() == Sequence{0});
  CHECK(archive->ledger().offered == 0);
  CHECK(archive->catalog().version() == 0);
}

TEST_CASE("an_import_into_an_archive_that_takes_nothing_says_so") {
  const TemporaryDirectory directory;
  const auto archive = opened(directory.path());
  REQUIRE(archive->close());
  const Import done = import(*archive, line("a#1", "log", 1, 0, "0"));
  if (done.report)
    CHECK(done.report->appended.not_stored == 1);
  CHECK(archive->ledger().not_stored.stopped == 1);
  CHECK(archive->ledger().balanced());
}
