/// Streams of an archive, and views over them.

#include "reader_test_support.hpp"

#include "heap_bytes.hpp"
#include "process_usage.hpp"
#include "shortage.hpp"
#include "under_tsan.hpp"

#include <datastream/defaults.hpp>
#include <datastream/record.hpp>
#include <datastream/views/actor_table.hpp>
#include <datastream/views/filter.hpp>
#include <datastream/views/grep.hpp>
#include <datastream/views/latest.hpp>
#include <datastream/views/lines.hpp>
#include <datastream/views/merged_log.hpp>
#include <datastream/views/metric_series.hpp>
#include <datastream/views/tail.hpp>

#include <rapidcheck.h>

#include <random>
#include <ranges>

using namespace datastream;
using namespace datastream::test;

namespace {

struct Load {
  static constexpr auto CHANNEL = "load";
  std::uint64_t queue = 0;
};
DATASTREAM_RECORD(Load, queue)

static_assert(FrameSource<ArchivedStream>);
static_assert(FrameSource<StoredStream>);
static_assert(std::ranges::view<ArchivedStream::Frames>);
static_assert(std::input_iterator<ArchivedStream::Iterator>);
static_assert(!std::forward_iterator<ArchivedStream::Iterator>);

/// Lines in channel 1, records in channel 2, anything in channel 3.
Frame random_frame(std::mt19937& random, std::uint64_t position) {
  switch (random() % 4) {
  case 0:
    return {{2}, {position}, "{\"queue\":" + std::to_string(random() % 100) + "}"};
  case 1:
    return {{3}, {position}, random() % 2 == 0 ? "needle" : "\xff\xfe"};
  case 2:
    return {{1}, {position}, "no end"};
  default:
    return {{1}, {position}, "one\ntwo " + std::string(random() % 30, '.') + "\n"};
  }
}

/// An archive of frames in any order, and the same frames in memory.
struct Both {
  explicit Both(unsigned seed) : stored(node_a) {
    std::mt19937 random(seed);
    std::vector<std::uint64_t> positions;
    for (std::uint64_t position = random() % 3; positions.size() < 120;
         position += random() % 8 == 0 ? 1 + random() % 200 : 1)
      positions.push_back(position);
    // A little out of order, or not at all, or completely.
    const std::size_t reach = seed % 3 == 0 ? 1 : seed % 3 == 1 ? 10 : positions.size();
    for (std::size_t i = 0; i + 1 < positions.size(); ++i)
      std::swap(positions[i], positions[std::min(i + random() % reach, positions.size() - 1)]);

    HandMadeArchive archive(directory.path());
    archive.begin_segment();
    for (std::size_t at = 0; at < positions.size();) {
      for (std::uint64_t batch = 0; batch < 1 + random() % 3; ++batch) {
        std::vector<Frame> frames;
        for (std::uint64_t i = 0; i < 1 + random() % 6 && at < positions.size(); ++i)
          frames.push_back(random_frame(random, positions[at++]));
        if (!frames.empty()) {
          archive.add(node_a, frames);
          stored.accept(FrameBatch::copy_of(node_a, frames));
        }
        if (random() % 3 == 0) // others lie between
          archive.add(node_b, {{{1}, {at}, "other"}});
      }
      archive.write_block();
      if (random() % 5 == 0) {
        archive.seal();
        archive.begin_segment();
      }
    }
    archive.publish();
    reader.emplace(reader_of(directory.path()));
    archived.emplace(stream_in(*reader));
  }

  TemporaryDirectory directory;
  StoredStream stored;
  std::optional<ArchiveReader> reader;
  std::optional<ArchivedStream> archived;
};

template <class Range>
std::vector<std::string> texts(Range&& range) {
  std::vector<std::string> result;
  for (const LogEntry& entry : range)
    result.push_back(to_string(entry));
  return result;
}

template <class Range>
std::vector<LineEntry> entries(Range&& range) {
  std::vector<LineEntry> result;
  for (const LineEntry& entry : range)
    result.push_back(entry);
  return result;
}

template <class Range>
std::vector<std::pair<Position, std::uint64_t>> points(Range&& range) {
  std::vector<std::pair<Position, std::uint64_t>> result;
  for (const auto& point : range)
    result.emplace_back(point.position, point.record.queue);
  return result;
}

std::optional<std::string_view> resolve(ChannelId channel) {
  if (channel.value == 1)
    return "text";
  if (channel.value == 2)
    return "load";
  return std::nullopt;
}

ChannelKind classify(std::string_view name) {
  return name == "load" ? ChannelKind::Typed : ChannelKind::Text;
}

std::string megabyte_of_noise(std::mt19937_64& random) {
  std::string noise(1U << 20U, '\0');
  for (std::size_t i = 0; i < noise.size(); i += 8) {
    const std::uint64_t word = random();
    noise.replace(i, 8, reinterpret_cast<const char*>(&word), 8);
  }
  return noise;
}

} // namespace

TEST_CASE("views_over_an_archive_show_what_they_show_over_the_same_frames_in_memory") {
  rc::check("views over an archive equal views over memory", [](unsigned seed) {
    const Both both(seed);
    const StoredStream& stored = both.stored;
    const ArchivedStream& archived = *both.archived;
    std::mt19937 random(seed);
    RC_ASSERT(archived.size() == stored.size());
    RC_ASSERT(archived.first() == stored.first());
    RC_ASSERT(archived.last() == stored.last());
    RC_ASSERT(copied(archived.frames()) == copied(stored.frames()));
    RC_ASSERT(texts(merged_log(archived)) == texts(merged_log(stored)));
    RC_ASSERT(texts(replay(archived)) == texts(replay(stored)));
    RC_ASSERT(texts(merged_log_with_names(archived, classify, resolve)) ==
              texts(merged_log_with_names(stored, classify, resolve)));
    RC_ASSERT(entries(lines(archived, {1})) == entries(lines(stored, {1})));
    RC_ASSERT(points(metric_series_on<Load>(archived, {2})) ==
              points(metric_series_on<Load>(stored, {2})));
    RC_ASSERT(points(metric_series<Load>(archived)) == points(metric_series<Load>(stored)));
    RC_ASSERT(copied(grep(archived, "needle")) == copied(grep(stored, "needle")));
    RC_ASSERT(copied(grep(archived, "\xef\xbf\xbd")) == copied(grep(stored, "\xef\xbf\xbd")));
    const auto even = [](const FrameView& frame) { return frame.position.value % 2 == 0; };
    RC_ASSERT(copied(filter(archived, even)) == copied(filter(stored, even)));
    RC_ASSERT(actor_table(archived, {2}).undecodable() == actor_table(stored, {2}).undecodable());
    for (int i = 0; i < 10; ++i) {
      const Position from{random() % (stored.last()->value + 3)};
      const Position to{from.value + random() % 100};
      RC_ASSERT(copied(archived.frames_from(from)) == copied(stored.frames_from(from)));
      RC_ASSERT(texts(merged_log(archived, from)) == texts(merged_log(stored, from)));
      RC_ASSERT(entries(lines(archived, {1}, {}, from)) == entries(lines(stored, {1}, {}, from)));
      const auto frame = archived.at(from);
      const auto expected = stored.at(from);
      RC_ASSERT(frame->has_value() == expected.has_value());
      if (expected)
        RC_ASSERT(**frame == expected->to_frame());
      RC_ASSERT(copied(archived.load(from, to)->frames()) ==
                copied(stored.frames_from(from) |
                       std::views::take_while([&](auto f) { return f.position <= to; })));
      const std::size_t count = random() % 140;
      const auto last = archived.load_last(count);
      RC_ASSERT(copied(last->frames()) == copied(tail(stored, count)));
      RC_ASSERT(!last->evicted());
      if (const auto found = latest(*last, {2}))
        RC_ASSERT(found->to_frame() == latest(stored, {2})->to_frame());
    }
  });
}

TEST_CASE("a_range_of_an_archived_stream_may_begin_more_than_once") {
  const Both both(7);
  const auto frames = both.archived->frames();
  CHECK(copied(frames) == copied(frames));
  const auto log = merged_log(*both.archived);
  CHECK(texts(log) == texts(log));
}

TEST_CASE("a_range_outlives_the_stream_and_the_reader_that_it_is_of") {
  std::optional<Both> both(std::in_place, 7);
  const auto expected = copied(both->stored.frames());
  auto frames = both->archived->frames();
  both->archived.reset();
  both->reader.reset();
  CHECK(copied(frames) == expected);
}

TEST_CASE("of_a_position_that_an_archive_has_twice_the_first_one_counts") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  archive.write_block(node_a, {{{1}, {5}, "first"}, {{1}, {7}, "x"}, {{1}, {7}, "y"}});
  archive.write_block(node_a, {{{1}, {4}, "a"}, {{1}, {5}, "second"}, {{1}, {6}, "b"}});
  archive.publish();
  ArchiveReader reader = reader_of(directory.path());
  const ArchivedStream stream = stream_in(reader);
  CHECK(copied(stream.frames()) ==
        std::vector<Frame>{{{1}, {4}, "a"}, {{1}, {5}, "first"}, {{1}, {6}, "b"}, {{1}, {7}, "x"}});
  CHECK((*stream.at({5}))->payload == "first");
  CHECK((*stream.at({7}))->payload == "x");
  CHECK(stream.load_last(4)->size() == 4);
}

TEST_CASE("a_walk_reads_a_block_when_it_reaches_it_and_a_point_reads_what_may_have_it") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  for (std::uint64_t block = 0; block < 100; ++block)
    archive.write_block(node_a, {{{1}, {block * 2}, "a"}, {{1}, {block * 2 + 1}, "b"}});
  archive.seal();
  archive.publish();
  CountedFiles files;
  ArchiveReader reader = reader_of(directory.path(), &files);
  const ArchivedStream stream = stream_in(reader);
  std::uint64_t before = files.counts().segment_reads;
  const auto reads = [&] {
    return files.counts().segment_reads - std::exchange(before, files.counts().segment_reads);
  };
  constexpr std::uint64_t opened = 1;
  constexpr std::uint64_t block = 4; // header; directory; both again; body
  const auto frames = stream.frames_from({121});
  CHECK(reads() == 0);
  auto at = frames.begin();
  CHECK(at.position() == Position{121});
  CHECK(reads() == opened + block);
  ++at;
  CHECK(reads() == opened + block);
  ++at;
  CHECK(reads() == 0);
  CHECK(stream.at({37})->has_value());
  CHECK(reads() == opened + block);
  CHECK_FALSE(stream.at({1000})->has_value());
  CHECK(reads() == 0);
  CHECK(stream.load({50}, {53})->size() == 4);
  CHECK(reads() <= 3 * (opened + block));
  CHECK(stream.load_last(3)->size() == 3);
  CHECK(reads() == 2 * (opened + block));
}

TEST_CASE("a_walk_throws_where_a_block_is_damaged_and_not_before") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  for (std::uint64_t block = 0; block < 3; ++block)
    archive.write_block(node_a, {{{1}, {block * 2}, "aaaa"}, {{1}, {block * 2 + 1}, "bbbb"}});
  archive.publish();
  const BlockSite& damaged = archive.blocks()[1];
  std::string bytes = bytes_of(archive.segment());
  bytes[damaged.offset + damaged.size() - 1] ^= 1;
  write_bytes(archive.segment(), bytes);

  ArchiveReader reader = reader_of(directory.path());
  const ArchivedStream stream = stream_in(reader);
  std::vector<std::string> seen;
  const SequenceRange lost{{3}, {4}};
  try {
    for (const LogEntry& entry : merged_log(stream))
      seen.push_back(to_string(entry));
    FAIL("ended as if all had been read");
  } catch (const ArchiveReadFailed& failed) {
    CHECK(failed.error().kind == ArchiveError::Kind::damaged);
    CHECK(failed.error().lost == lost);
  }
  CHECK(seen.size() == 2);
  CHECK(stream.at({2}).error().lost == lost);
  CHECK(stream.load({0}, {5}).error().lost == lost);
  CHECK(stream.load_last(4).error().lost == lost);
  CHECK(stream.at({0})->has_value());
  CHECK(stream.load({4}, {5})->size() == 2);
  CHECK(stream.load_last(2)->size() == 2);
}

TEST_CASE("a_walk_over_much_keeps_the_blocks_that_it_is_in_and_no_others") {
  if (!memory_is_ours)
    return;
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  std::mt19937_64 random(5);
  constexpr std::uint64_t blocks = 40;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    // Each begins before the one in front of it ends.
    archive.write_block(
        node_a, {{{1}, {block * 10 + 5}, megabyte_of_noise(random)}, {{1}, {block * 10 + 17}, ""}});
    if (block % 10 == 9 && block + 1 < blocks) {
      archive.seal();
      archive.begin_segment();
    }
  }
  archive.publish();
  ArchiveReader reader = reader_of(directory.path());
  const ArchivedStream stream = stream_in(reader);
  const std::size_t before = heap_bytes();
  std::size_t most = 0;
  std::uint64_t frames = 0;
  for (const FrameView& frame : stream.frames()) {
    frames += frame.channel.value;
    most = std::max(most, heap_bytes() - before);
  }
  CHECK(frames == 2 * blocks);
  CHECK(most < 3U << 20U);
  CHECK(most >= 2U << 20U);
  CHECK(heap_bytes() - before < 64U << 10U);

  most = 0;
  ArchiveCursor cursor = cursor_of(reader);
  while (const auto batch = cursor.next()) {
    if (!*batch)
      break;
    most = std::max(most, heap_bytes() - before);
  }
  CHECK(most < 3U << 20U);
}

TEST_CASE("a_walk_over_a_backfill_beside_what_is_live_keeps_blocks_up_to_its_bound") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  constexpr std::uint64_t blocks = 150;
  constexpr std::uint64_t live = 1'000'000;
  const std::string megabyte(1U << 20U, 'x'); // and next to nothing in the file
  static_assert(blocks << 20U > 2 * defaults::archive_view_bytes);
  for (std::uint64_t i = 0; i < blocks; ++i)
    archive.write_block(node_a, {{{1}, {i}, megabyte}, {{2}, {live + i}, "live"}});
  archive.publish();
  CountedFiles files;
  ArchiveReader reader = reader_of(directory.path(), &files);
  const ArchivedStream stream = stream_in(reader);
  const std::size_t before = heap_bytes();
  const std::uint64_t reads = files.counts().segment_reads;
  std::size_t most = 0;
  std::uint64_t frames = 0;
  for (const FrameView& frame : stream.frames()) {
    const bool is_live = frames >= blocks;
    CHECK(frame.position.value == (is_live ? live + frames - blocks : frames));
    CHECK(frame.payload == (is_live ? "live" : megabyte));
    most = std::max(most, heap_bytes() - before);
    ++frames;
  }
  CHECK(frames == 2 * blocks);
  // A block is read in four parts, at most twice, after the segment's header.
  CHECK(files.counts().segment_reads - reads <= 1 + 2 * 4 * blocks);
  if (memory_is_ours) {
    CHECK(most < defaults::archive_view_bytes + (3U << 20U));
    CHECK(heap_bytes() - before < 64U << 10U);
  }
}

#if !DATASTREAM_UNDER_TSAN

TEST_CASE("without_memory_nothing_is_malformed_and_nothing_is_left_out") {
  const Both both(4);
  ArchiveReader whole = reader_of(both.directory.path());
  const auto expected = all_of(whole);
  const auto expected_stream = copied(both.stored.frames());
  const std::filesystem::path path = both.directory.path();
  std::size_t failures = 0;
  for (bool failed = true; failed; ++failures) {
    CAPTURE(failures);
    std::optional<ArchiveError> error;
    std::size_t frames = 0;
    try {
      const Shortage shortage(failures);
      failed = false;
      auto reader = ArchiveReader::open(path);
      auto stream = reader ? reader->stream(node_a) : std::unexpected(reader.error());
      if (!stream)
        error = stream.error();
      else
        for (const FrameView& frame : stream->frames())
          frames += frame.position == expected_stream[frames].position ? 1 : 1000;
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    CHECK_FALSE(error);
    CHECK((failed || frames == expected_stream.size()));
  }
  CHECK(failures > 100);

  // A cursor goes on where it was.
  for (std::size_t n = 0;; ++n) {
    CAPTURE(n);
    ArchiveReader reader = reader_of(both.directory.path());
    ArchiveCursor cursor = cursor_of(reader);
    std::vector<std::uint64_t> seen;
    seen.reserve(1000);
    bool failed = false;
    for (bool more = true; more;) {
      try {
        std::optional<Shortage> shortage;
        if (!failed)
          shortage.emplace(n);
        const auto batch = cursor.next();
        more = batch.has_value() && *batch; // an error shows as frames that are missing
        for (std::size_t i = 0; more && i < (*batch)->frames.size(); ++i)
          seen.push_back((*batch)->sequence(i).value);
      } catch (const std::bad_alloc&) {
        failed = true;
      }
    }
    CHECK(seen == sequences_of(expected));
    if (!failed)
      break;
  }
}

#endif
