#include "reader_test_support.hpp"

#include <rapidcheck.h>

#include <map>
#include <random>
#include <set>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

std::chrono::system_clock::time_point at_time(std::int64_t microseconds) {
  return std::chrono::system_clock::time_point(std::chrono::microseconds(microseconds));
}

/// A frame with everything that a filter may look at.
struct KnownFrame {
  StoredFrame stored;
  std::int64_t arrival = 0;
  std::string name; ///< empty: not declared
};

const std::vector<std::string> channel_names{"alpha", "beta", "gamma"};
const std::vector<StreamId> streams{node_a, node_b, StreamId{"node-a", {8}}};

/// Batches of all streams in blocks and segments of random size; a channel without declaration.
std::vector<KnownFrame> write_random(const std::filesystem::path& directory, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  HandMadeArchive archive(directory);
  std::vector<KnownFrame> known;
  std::map<StreamId, std::uint64_t> next;
  for (std::uint64_t segment = 0; segment < 3; ++segment) {
    archive.begin_segment();
    std::set<StreamId> declared;
    for (std::uint64_t block = 0; block < 1 + below(5); ++block) {
      for (std::uint64_t batch = 0; batch < 1 + below(4); ++batch) {
        const StreamId& stream = streams[below(streams.size())];
        const std::int64_t arrival = static_cast<std::int64_t>(below(1000)) - 200;
        std::vector<Frame> frames;
        for (std::uint64_t i = 0; i < 1 + below(6); ++i) {
          const auto channel = static_cast<std::uint32_t>(1 + below(4));
          const std::uint64_t position = (next[stream] += 1 + below(3)) ^ below(2);
          frames.push_back({{channel}, {position}, std::to_string(below(1000))});
          known.push_back({{0, stream, frames.back()},
                           arrival,
                           channel <= 3 ? channel_names[channel - 1] : ""});
        }
        archive.add(stream, frames, arrival);
        declared.insert(stream);
      }
      // Before the block, and each once a segment.
      for (const StreamId& stream : declared)
        for (std::uint32_t channel = 1; channel <= 3; ++channel)
          archive.declare(channel_declaration(stream, channel, channel_names[channel - 1]));
      archive.write_block();
    }
    if (segment < 2)
      archive.seal();
  }
  archive.publish();
  for (std::size_t i = 0; i < known.size(); ++i)
    known[i].stored.sequence = i + 1;
  return known;
}

ReadFilter random_filter(std::mt19937& random) {
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  ReadFilter filter;
  if (below(2) == 0)
    filter.stream = streams[below(streams.size())];
  for (const std::string& name : channel_names)
    if (below(4) == 0)
      filter.channels.push_back(name);
  if (below(3) == 0)
    filter.lowest = {below(30)};
  if (below(3) == 0)
    filter.highest = {below(40)};
  if (below(3) == 0)
    filter.arrived_from = at_time(static_cast<std::int64_t>(below(1000)) - 200);
  if (below(3) == 0)
    filter.arrived_until = at_time(static_cast<std::int64_t>(below(1000)) - 200);
  return filter;
}

bool passes(const KnownFrame& frame, const ReadFilter& filter) {
  const Position position = frame.stored.frame.position;
  return (!filter.stream || frame.stored.stream == *filter.stream) &&
         (filter.channels.empty() ||
          (!frame.name.empty() &&
           std::ranges::find(filter.channels, frame.name) != filter.channels.end())) &&
         position >= filter.lowest && position <= filter.highest &&
         (!filter.arrived_from || at_time(frame.arrival) >= *filter.arrived_from) &&
         (!filter.arrived_until || at_time(frame.arrival) < *filter.arrived_until);
}

} // namespace

TEST_CASE("a_filter_gives_exactly_what_passes_it_whatever_it_is") {
  rc::check("a filter gives exactly what passes it", [](unsigned seed) {
    TemporaryDirectory directory;
    const std::vector<KnownFrame> known = write_random(directory.path(), seed);
    ArchiveReader reader = reader_of(directory.path());
    std::mt19937 random(seed);
    for (int i = 0; i < 20; ++i) {
      const ReadFilter filter = random_filter(random);
      const std::uint64_t from = random() % (known.size() + 2);
      std::vector<StoredFrame> expected;
      for (const KnownFrame& frame : known)
        if (frame.stored.sequence >= from && passes(frame, filter))
          expected.push_back(frame.stored);

      ArchiveCursor cursor = cursor_of(reader, from, filter);
      std::vector<StoredFrame> given;
      for (;;) {
        const auto batch = cursor.next();
        RC_ASSERT(batch.has_value());
        if (!*batch)
          break;
        const std::size_t before = given.size();
        append_frames(**batch, given);
        for (std::size_t k = before; k < given.size(); ++k)
          RC_ASSERT((*batch)->arrival == at_time(known[given[k].sequence - 1].arrival));
        // Nothing that is wanted lies between what was given and the position.
        const std::uint64_t position = cursor.position().value;
        RC_ASSERT(static_cast<std::size_t>(std::ranges::count_if(
                      expected, [&](const StoredFrame& f) { return f.sequence < position; })) ==
                  given.size());
      }
      RC_ASSERT(given == expected);
      RC_ASSERT(cursor.position().value == known.size() + 1);
    }
  });
}

TEST_CASE("blocks_that_have_nothing_of_what_is_wanted_are_not_read") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  for (std::uint32_t channel = 1; channel <= 4; ++channel)
    archive.declare(channel_declaration(node_a, channel, "c" + std::to_string(channel)));
  for (std::uint64_t i = 0; i < 100; ++i)
    archive.write_block(i % 2 == 0 ? node_a : node_b,
                        {{{static_cast<std::uint32_t>(1 + i / 2 % 4)}, {i}, "text"}},
                        static_cast<std::int64_t>(i) * 1000);
  archive.seal();
  archive.publish();
  CountedFiles files;
  ArchiveReader reader = reader_of(directory.path(), &files);
  const auto reads_for = [&](const ReadFilter& filter, std::size_t frames) {
    ArchiveCursor cursor = cursor_of(reader, 0, filter);
    const std::uint64_t before = files.counts().segment_reads;
    CHECK(rest_of(cursor).size() == frames);
    return files.counts().segment_reads - before;
  };
  // The segment's header, and of each block that is read, the declarations among them, two parts.
  // Who asks for names reads the declarations before.
  reads_for({}, 100);
  CHECK(reads_for({}, 100) == 1 + 2 * (4 + 100));
  CHECK(reads_for({.stream = node_a}, 50) == 1 + 2 * (4 + 50));
  CHECK(reads_for({.channels = {"c2"}}, 13) == 1 + 2 * (4 + 13));
  CHECK(reads_for({.channels = {"c5"}}, 0) == 1 + 2 * 4);
  CHECK(reads_for({.lowest = {30}, .highest = {39}}, 10) == 1 + 2 * (4 + 10));
  CHECK(reads_for({.arrived_from = at_time(98'500)}, 1) == 1 + 2 * (4 + 1));
  CHECK(reads_for({.arrived_until = at_time(2000)}, 2) == 1 + 2 * (4 + 2));
}

TEST_CASE("a_batch_that_was_cut_shares_the_block_and_knows_its_sequences") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  archive.declare(channel_declaration(node_a, 1, "odd"));
  std::vector<Frame> frames;
  for (std::uint64_t i = 0; i < 9; ++i)
    frames.push_back({{static_cast<std::uint32_t>(i % 2)}, {i}, std::string(1000, 'x')});
  archive.write_block(node_a, frames);
  archive.publish();
  ArchiveReader reader = reader_of(directory.path());
  ArchiveCursor cursor = cursor_of(reader, 3, {.channels = {"odd"}});
  REQUIRE(cursor.next()); // declarations
  const auto batch = cursor.next();
  REQUIRE(batch);
  REQUIRE(*batch);
  CHECK((*batch)->first == Sequence{4});
  CHECK((*batch)->offsets == std::vector<std::uint32_t>{0, 2, 4});
  CHECK((*batch)->sequence(2) == Sequence{8});
  CHECK((*batch)->frames.pinned_bytes() > 9000); // the whole block and no copy
  CHECK((*batch)->frames[2].position == Position{7});
  // What lies side by side needs no offsets.
  ArchiveCursor beside = cursor_of(reader, 0, {.lowest = {4}, .highest = {6}});
  REQUIRE(beside.next());
  const auto slice = beside.next();
  CHECK((**slice).offsets.empty());
  CHECK((**slice).first == Sequence{5});
  CHECK((**slice).frames.size() == 3);
}

TEST_CASE("frames_of_a_channel_that_was_never_declared_match_no_name") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  archive.write_block(node_a, {{{1}, {0}, "unknown"}});
  archive.publish();
  ArchiveReader reader = reader_of(directory.path());
  for (const char* name : {"", "1", "channel#1"}) {
    ArchiveCursor cursor = cursor_of(reader, 0, {.channels = {name}});
    CHECK(rest_of(cursor).empty());
    CHECK(cursor.position() == Sequence{2});
  }
}

TEST_CASE("times_of_arrival_that_no_clock_has_are_the_nearest_that_one_has") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  archive.write_block(node_a, {{{1}, {0}, "a"}}, INT64_MIN);
  archive.write_block(node_a, {{{1}, {1}, "b"}}, INT64_MAX);
  archive.publish();
  ArchiveReader reader = reader_of(directory.path());
  ArchiveCursor cursor = cursor_of(reader);
  CHECK(cursor.next()->value().arrival < at_time(0));
  CHECK(cursor.next()->value().arrival > at_time(0));
  CHECK(reader.streams()->front().first_arrival < reader.streams()->front().last_arrival);
}

TEST_CASE("frames_are_found_by_a_name_that_was_declared_behind_them") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  archive.write_block(node_a, {{{1}, {0}, "early"}, {{2}, {1}, "other"}});
  archive.seal();
  archive.begin_segment();
  archive.write_block(node_a, {{{1}, {2}, "still early"}});
  archive.declare(channel_declaration(node_a, 1, "log"));
  archive.write_block(node_a, {{{1}, {3}, "known"}});
  archive.publish();
  ArchiveReader reader = reader_of(directory.path());
  ArchiveCursor cursor = cursor_of(reader, 0, {.channels = {"log"}});
  CHECK(sequences_of(rest_of(cursor)) == std::vector<std::uint64_t>{1, 3, 4});

  // Likewise of what is durable when the cursor looks again.
  archive.write_block(node_a, {{{3}, {4}, "late"}});
  archive.declare(channel_declaration(node_a, 3, "log"));
  archive.seal();
  archive.begin_segment();
  archive.write_block(node_b, {{{3}, {0}, "none"}, {{1}, {1}, "one"}});
  archive.declare(channel_declaration(node_b, 1, "log"));
  archive.publish();
  CHECK(sequences_of(rest_of(cursor)) == std::vector<std::uint64_t>{5, 7});
}

TEST_CASE("a_name_that_cannot_be_read_is_no_absence_for_the_frames_before_it") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  archive.write_block(node_a, {{{1}, {0}, "early"}});
  archive.seal();
  archive.begin_segment();
  archive.declare(channel_declaration(node_a, 1, "log"));
  const BlockSite names = archive.blocks().back();
  archive.write_block(node_a, {{{1}, {1}, "known"}});
  archive.seal();
  archive.begin_segment();
  archive.declare(channel_declaration(node_b, 1, "log"));
  archive.write_block(node_b, {{{1}, {0}, "elsewhere"}, {{2}, {1}, "never declared"}});
  archive.publish();
  const std::string whole = bytes_of(names.segment);
  std::string bytes = whole;
  bytes[names.offset + names.size() - 1] ^= 1;
  const auto aside = directory / "aside";
  SUBCASE("because it is damaged") {
    write_bytes(names.segment, bytes);
  }
  SUBCASE("because its segment is gone") {
    std::filesystem::rename(names.segment, aside);
  }
  ArchiveReader reader = reader_of(directory.path());
  ArchiveCursor cursor = cursor_of(reader, 0, {.channels = {"log"}});
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto refused = cursor.next();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().lost == SequenceRange{{1}, {1}});
  }
  // What lies behind has its names.
  ArchiveCursor behind = cursor_of(reader, 3, {.channels = {"log"}});
  CHECK(sequences_of(rest_of(behind)) == std::vector<std::uint64_t>{3});

  // And once they can be read, the same cursor goes on.
  if (std::filesystem::exists(aside))
    std::filesystem::rename(aside, names.segment);
  else
    write_bytes(names.segment, whole);
  CHECK(sequences_of(rest_of(cursor)) == std::vector<std::uint64_t>{1, 2, 3});
}
