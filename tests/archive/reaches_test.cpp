/// How far streams reach: what is missing before the first frame that is stored and after the last.

#include "archive_test_support.hpp"
#include "failing_syncs.hpp"
#include "watched_files.hpp"

#include <datastream/archive/archive.hpp>
#include <datastream/archive/archive_reader.hpp>
#include <datastream/ingest/consumer.hpp>
#include <datastream/ingest/store.hpp>
#include <datastream/pipe/event_batch.hpp>

#include <doctest/doctest.h>

#include <disk_gate.hpp>
#include <eventually.hpp>
#include <temporary_directory.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

using namespace datastream;
using namespace datastream::test;

namespace {

/// Frames at 2 to 9 of a stream that was offered from 0, and had 12 positions.
EventBatch whole_stream(const StreamId& stream) {
  EventBatch events;
  events.declarations = {stream_declaration(stream), channel_declaration(stream, 1, "log")};
  events.starts = {{stream, {0}}};
  events.frames = batch_of(stream, 2, 8);
  events.ended = StreamEnd{stream, 12};
  return events;
}

ArchivedStreamInfo info_of(const std::filesystem::path& directory, const StreamId& stream) {
  auto reader = ArchiveReader::open(directory);
  REQUIRE(reader);
  const auto streams = reader->streams();
  REQUIRE_MESSAGE(streams, streams.error().message);
  for (const ArchivedStreamInfo& info : *streams)
    if (info.stream == stream)
      return info;
  FAIL("there is no such stream");
  return {};
}

std::uint64_t blocks_in(const std::filesystem::path& directory) {
  auto reader = ArchiveReader::open(directory);
  REQUIRE(reader);
  std::uint64_t blocks = 0;
  for (const auto& segment : reader->segments())
    blocks += segment->blocks;
  return blocks;
}

} // namespace

TEST_CASE("what_is_missing_before_the_first_frame_and_after_the_last_is_known") {
  const TemporaryDirectory directory;
  {
    const auto archive = opened(directory.path());
    const Archive::Appended appended = archive->append(whole_stream(node_a));
    CHECK(appended.taken == 8);
    CHECK(archive->append(batch_of(node_b, 5, 3)).taken == 3);
    REQUIRE(archive->flush());
  }
  const ArchivedStreamInfo a = info_of(directory.path(), node_a);
  CHECK(a.from == Position{0});
  CHECK(a.assigned == 12);
  CHECK(a.missing() == 4);
  const ArchivedStreamInfo b = info_of(directory.path(), node_b);
  CHECK_FALSE(b.from);
  CHECK_FALSE(b.assigned);
  CHECK(b.missing() == 0);
}

TEST_CASE("missing_positions_are_counted_wherever_a_stream_begins_and_ends") {
  using Info = ArchivedStreamInfo;
  const auto info = [](std::uint64_t frames, std::uint64_t lowest, std::uint64_t highest) {
    Info result;
    result.frames = frames;
    result.lowest = {lowest};
    result.highest = {highest};
    return result;
  };
  const auto with = [](Info result, std::optional<Position> from,
                       std::optional<std::uint64_t> assigned) {
    result.from = from;
    result.assigned = assigned;
    return result.missing();
  };
  CHECK(with(info(3, 2, 9), {}, {}) == 5);
  CHECK(with(info(3, 2, 9), Position{1}, {}) == 6);
  CHECK(with(info(3, 2, 9), Position{5}, {}) == 5); // something from before arrived all the same
  CHECK(with(info(3, 2, 9), {}, 12) == 7);
  CHECK(with(info(3, 2, 9), {}, 4) == 5); // a peer that contradicts itself
  CHECK(with(info(0, 0, 0), Position{3}, 12) == 9);
  CHECK(with(info(0, 0, 0), Position{3}, {}) == 0);
  CHECK(with(info(0, 0, 0), {}, 2) == 2);
  CHECK(with(info(0, 0, 0), Position{3}, 2) == 0);
  CHECK(with(info(2, 0, UINT64_MAX), {}, {}) == UINT64_MAX - 1);
  CHECK(with(info(8, 2, 9), {}, {}) == 0);
  CHECK(with(info(9, 2, 9), {}, {}) == 0); // some are counted twice
  CHECK(with(info(9, 2, 9), {}, 12) == 1);
}

TEST_CASE("a_stream_of_which_everything_was_lost_is_listed") {
  const TemporaryDirectory directory;
  {
    const auto archive = opened(directory.path());
    SubscriptionStart start;
    start.starts = {{node_a, {3}}};
    archive->begin(start);
    EventBatch end;
    end.ended = StreamEnd{node_a, 10};
    archive->append(end);
  } // which commits
  const ArchivedStreamInfo info = info_of(directory.path(), node_a);
  CHECK(info.frames == 0);
  CHECK(info.missing() == 7);
}

TEST_CASE("the_lowest_beginning_and_the_highest_end_count_over_restarts") {
  const TemporaryDirectory directory;
  for (const auto& [from, assigned] :
       {std::pair{5U, 20U}, std::pair{2U, 25U}, std::pair{7U, 11U}}) {
    const auto archive = opened(directory.path());
    EventBatch events;
    events.starts = {{node_a, {from}}};
    events.ended = StreamEnd{node_a, assigned};
    const Archive::Appended appended = archive->append(events);
    CHECK(appended.ticket > 0);
    REQUIRE(archive->flush());
  }
  const ArchivedStreamInfo info = info_of(directory.path(), node_a);
  CHECK(info.from == Position{2});
  CHECK(info.assigned == 25);
}

TEST_CASE("beginnings_and_ends_are_written_once_however_often_they_are_told") {
  const TemporaryDirectory directory;
  const auto archive = opened(directory.path());
  archive->append(whole_stream(node_a));
  REQUIRE(archive->flush());
  const std::uint64_t blocks = blocks_in(directory.path());
  for (int again = 0; again < 10; ++again) {
    EventBatch events = whole_stream(node_a);
    events.starts.front().from = {static_cast<std::uint64_t>(again)};
    archive->append(events);
    REQUIRE(archive->flush());
  }
  CHECK(blocks_in(directory.path()) == blocks);
}

TEST_CASE("a_cursor_gives_beginnings_before_frames_and_ends_behind_them") {
  const TemporaryDirectory directory;
  const auto archive = opened(directory.path());
  archive->append(whole_stream(node_a));
  archive->append(whole_stream(node_b)); // in the same group
  REQUIRE(archive->flush());

  auto reader = ArchiveReader::open(directory.path());
  REQUIRE(reader);
  auto cursor = reader->read_from({0}, {.stream = node_b});
  REQUIRE(cursor);
  std::vector<std::string> order;
  Consumer consumer;
  for (auto batch = cursor->next(); batch && *batch; batch = cursor->next()) {
    EventBatch events;
    events.declarations = (*batch)->declarations;
    events.starts = (*batch)->starts;
    events.frames = (*batch)->frames;
    for (const StreamStart& start : (*batch)->starts)
      order.push_back("begins " + start.stream.node.value);
    if (!events.frames.empty())
      order.push_back("frames");
    for (const StreamEnd& end : (*batch)->ends) {
      order.push_back("ends " + end.stream.node.value);
      events.ended = end;
    }
    consumer.accept(events);
  }
  CHECK(order == std::vector<std::string>{"begins " + node_b.node.value, "frames",
                                          "ends " + node_b.node.value});
  CHECK(consumer.ended(node_b));
  const auto* stream = consumer.store().find(node_b);
  REQUIRE(stream);
  CHECK(stream->ledger().missing() == 4);
}

TEST_CASE("an_end_that_finds_no_room_on_the_disk_waits_for_it") {
  const TemporaryDirectory directory;
  DiskGate disk;
  const auto archive =
      opened(directory.path(), {.retry_interval = std::chrono::milliseconds(1), .files = &disk});
  archive->append(batch_of(node_a, 0, 5));
  REQUIRE(archive->flush());
  disk.set_full(true);
  EventBatch end;
  end.ended = StreamEnd{node_a, 6};
  archive->append(end);
  CHECK_FALSE(archive->flush());
  disk.set_full(false);
  CHECK(eventually([&] { return !archive->trouble(); }));
  REQUIRE(archive->flush());
  CHECK(info_of(directory.path(), node_a).missing() == 1);
  CHECK(archive->ledger().refused_declarations == 0);
}

TEST_CASE("what_is_said_when_an_archive_has_closed_or_stopped_is_counted_as_refused") {
  for (const bool stops : {false, true}) {
    CAPTURE(stops);
    const TemporaryDirectory directory;
    FailingSyncs syncs;
    WatchedFiles files(directory.path(), syncs);
    const auto archive =
        opened(directory.path(), {.files = &files.files(), .metadata = files.env()});
    archive->append(whole_stream(node_a));
    REQUIRE(archive->flush());
    if (stops) {
      syncs.failing = true;
      archive->declare(channel_declaration(node_a, 2, "of a group that was not stored"));
      CHECK_FALSE(archive->flush());
    } else {
      REQUIRE(archive->close());
    }
    const std::uint64_t before = archive->ledger().refused_declarations;
    CHECK(before == (stops ? 1 : 0));
    archive->append(whole_stream(node_a)); // of which nothing is new
    CHECK(archive->ledger().refused_declarations == before);
    archive->append(whole_stream(node_b));
    CHECK(archive->ledger().refused_declarations == before + 4);
    (void)archive->close();
    CHECK(archive->ledger().refused_declarations == before + 4);
  }
}

TEST_CASE("a_node_whose_name_is_too_long_is_counted_as_refused") {
  const TemporaryDirectory directory;
  const auto archive = opened(directory.path());
  const StreamId huge{std::string(std::size_t{1} << 21U, 'n'), {1}};
  EventBatch events;
  events.starts = {{huge, {0}}};
  events.ended = StreamEnd{huge, 1};
  archive->append(events);
  CHECK(archive->ledger().refused_declarations == 2);
  // Nothing was taken, so nothing is waited for.
  CHECK(archive->append(batch_of(huge, 0, 1)).ticket == 0);
  REQUIRE(archive->flush());
}
