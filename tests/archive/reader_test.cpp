#include "reader_test_support.hpp"

#include "eventually.hpp"
#include "format/checksum.hpp"

#include <thread>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

using Kind = ArchiveError::Kind;

std::vector<Frame> frames_at(std::uint64_t first, std::uint64_t count, std::uint32_t channel = 1) {
  std::vector<Frame> frames;
  for (std::uint64_t position = first; position < first + count; ++position)
    frames.push_back({{channel}, {position}, "payload " + std::to_string(position)});
  return frames;
}

/// Three segments, the last one unsealed; five frames in each of two blocks of each.
HandMadeArchive three_segments(const std::filesystem::path& directory) {
  HandMadeArchive archive(directory);
  for (std::uint64_t segment = 0; segment < 3; ++segment) {
    archive.begin_segment();
    archive.write_block(node_a, frames_at(segment * 10, 5));
    archive.write_block(node_a, frames_at(segment * 10 + 5, 5));
    if (segment < 2)
      archive.seal();
  }
  archive.publish();
  return archive;
}

std::vector<std::string> declared_in(const ArchivedBatch& batch) {
  std::vector<std::string> names;
  for (const Declaration& declaration : batch.declarations)
    if (const auto* channel = std::get_if<ChannelDescriptorPtr>(&declaration))
      names.push_back((*channel)->name);
    else
      names.push_back(to_string(std::get<StreamDescriptorPtr>(declaration)->stream));
  return names;
}

} // namespace

TEST_CASE("a_reader_gives_what_a_writer_has_stored") {
  TemporaryDirectory directory;
  const auto archive = opened(directory.path(), {.segment_bytes = 8U << 10U});
  archive->declare(stream_declaration(node_a));
  archive->declare(channel_declaration(node_a, 1, "log"));
  for (std::uint64_t i = 0; i < 50; ++i) {
    archive->append(batch_of(node_a, i * 20, 20));
    archive->append(batch_of(node_b, i * 5, 5));
    REQUIRE(archive->flush());
  }
  ArchiveReader reader = reader_of(directory.path());
  CHECK(reader.last() == Sequence{1250});
  ArchiveCursor cursor = cursor_of(reader);
  CHECK(rest_of(cursor) == frames_in(directory.path()));
  CHECK(cursor.position() == Sequence{1251});
  CHECK(reader.verify().empty());
  CHECK(reader.holes().empty());

  const auto segments = reader.segments();
  CHECK(segments.size() == segment_names(directory.path()).size());
  CHECK(segments.size() > 2);
  std::uint64_t next = 1;
  for (const auto& segment : segments) {
    REQUIRE(segment);
    CHECK(segment->first == Sequence{next});
    CHECK(segment->sealed == (&segment != &segments.back()));
    CHECK(segment->bytes == std::filesystem::file_size(directory / segment->name));
    next += segment->frames;
  }
  CHECK(next == 1251);

  const auto streams = reader.streams();
  REQUIRE(streams);
  REQUIRE(streams->size() == 2);
  CHECK((*streams)[0].stream == node_a);
  CHECK((*streams)[0].frames == 1000);
  CHECK((*streams)[0].highest == Position{999});
  CHECK((*streams)[0].first_arrival < (*streams)[0].last_arrival);
  CHECK((*streams)[1].frames == 250);
  const auto catalog = reader.catalog();
  REQUIRE(catalog);
  CHECK((*catalog)->find_channel(node_a, "log")->id == ChannelId{1});
  CHECK((*catalog)->find_stream(node_a)->label == "label");
}

TEST_CASE("archive_rule_03_a_cursor_is_inclusive_and_zero_is_everything") {
  TemporaryDirectory directory;
  const HandMadeArchive archive = three_segments(directory.path());
  ArchiveReader reader = reader_of(directory.path());
  const auto all = all_of(reader);
  CHECK(sequences_of(all) == sequences(1, 31));
  for (std::uint64_t from = 1; from <= 31; ++from) {
    CAPTURE(from);
    ArchiveCursor cursor = cursor_of(reader, from);
    CHECK(cursor.position() == Sequence{from});
    const auto frames = rest_of(cursor);
    CHECK(sequences_of(frames) == sequences(from, 31));
    CHECK(std::ranges::equal(frames, all | std::views::drop(from - 1)));
    CHECK(cursor.position() == Sequence{31});
  }
}

TEST_CASE("a_cursor_beyond_the_sequence_after_the_last_one_is_an_error") {
  TemporaryDirectory directory;
  HandMadeArchive archive = three_segments(directory.path());
  ArchiveReader reader = reader_of(directory.path());
  for (const std::uint64_t from : {std::uint64_t{32}, UINT64_MAX}) {
    const auto cursor = reader.read_from({from});
    REQUIRE_FALSE(cursor);
    CHECK(cursor.error().kind == Kind::bad_cursor);
  }
  // Somebody else may have read further than this reader has looked.
  archive.write_block(node_a, frames_at(30, 5));
  archive.publish();
  ArchiveCursor cursor = cursor_of(reader, 34);
  CHECK(sequences_of(rest_of(cursor)) == sequences(34, 36));
  CHECK(reader.last() == Sequence{30});
  CHECK(reader.refresh() == true);
  CHECK(reader.last() == Sequence{35});
  CHECK(reader.refresh() == false);
}

TEST_CASE("archive_rule_04_who_resumes_where_it_was_gets_everything_at_least_once") {
  TemporaryDirectory directory;
  const HandMadeArchive archive = three_segments(directory.path());
  ArchiveReader reader = reader_of(directory.path());
  // A reader that ends after every batch, and has remembered the position before it took it.
  std::vector<std::uint64_t> seen;
  std::uint64_t remembered = 0;
  for (bool again = true;;) {
    ArchiveCursor cursor = cursor_of(reader, remembered);
    const auto batch = cursor.next();
    REQUIRE(batch);
    if (!*batch)
      break;
    std::vector<StoredFrame> frames;
    append_frames(**batch, frames);
    seen.insert(seen.end(), frames.size(), 0);
    for (std::size_t i = 0; i < frames.size(); ++i)
      seen[seen.size() - frames.size() + i] = frames[i].sequence;
    if (!again)
      remembered = cursor.position().value;
    again = !again;
  }
  CHECK(seen.size() == 60); // each twice
  std::ranges::sort(seen);
  seen.erase(std::ranges::unique(seen).begin(), seen.end());
  CHECK(seen == sequences(1, 31));
  // The last one that it saw is given again.
  ArchiveCursor cursor = cursor_of(reader, 30);
  CHECK(sequences_of(rest_of(cursor)) == sequences(30, 31));
}

TEST_CASE("archive_rule_05_frames_of_a_stream_come_in_the_order_in_which_they_arrived") {
  TemporaryDirectory directory;
  const auto archive = opened(directory.path(), {.segment_bytes = 4U << 10U});
  // Both streams arrive backwards, in turns, over many segments.
  std::vector<std::uint64_t> arrived;
  for (std::uint64_t i = 200; i-- > 0;) {
    for (const StreamId& stream : {node_a, node_b})
      archive->append(batch_of(stream, i * 3, 3));
    for (std::uint64_t k = 0; k < 3; ++k)
      arrived.push_back(i * 3 + k);
    if (i % 7 == 0)
      REQUIRE(archive->flush());
  }
  REQUIRE(archive->flush());
  ArchiveReader reader = reader_of(directory.path());
  CHECK(reader.segments().size() > 3);
  const auto positions = [](const std::vector<StoredFrame>& frames, const StreamId& stream) {
    std::vector<std::uint64_t> result;
    for (const StoredFrame& frame : frames)
      if (frame.stream == stream)
        result.push_back(frame.frame.position.value);
    return result;
  };
  const auto all = all_of(reader);
  for (const StreamId& stream : {node_a, node_b}) {
    CHECK(positions(all, stream) == arrived);
    ArchiveCursor cursor = cursor_of(reader, 0, {.stream = stream});
    CHECK(positions(rest_of(cursor), stream) == arrived);
  }
}

TEST_CASE("archive_rule_06_segments_sort_in_the_order_of_their_sequences") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  const std::vector<std::uint64_t> skipped{0, 33, 0, 0, 1300, 46'656};
  for (std::size_t i = 0; i < skipped.size(); ++i) {
    archive.begin_segment(skipped[i]); // numbers may have gaps
    archive.write_block(node_a, frames_at(i * 10, 10));
    archive.seal();
  }
  archive.publish();
  ArchiveReader reader = reader_of(directory.path());
  CHECK(sequences_of(all_of(reader)) == sequences(1, 61));
  const auto names = segment_names(directory.path()); // sorted as texts
  const auto segments = reader.segments();
  REQUIRE(segments.size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    REQUIRE(segments[i]);
    CHECK(segments[i]->name == names[i]);
    CHECK(segments[i]->first == Sequence{i * 10 + 1});
  }
  CHECK(reader.verify().empty());
}

TEST_CASE("nothing_beyond_the_tip_is_shown") {
  TemporaryDirectory directory;
  HandMadeArchive archive = three_segments(directory.path());
  archive.write_block(node_b, frames_at(0, 5));
  archive.seal();
  archive.begin_segment();
  archive.declare(channel_declaration(node_b, 1, "later"));
  archive.write_block(node_b, frames_at(5, 5));
  ArchiveReader reader = reader_of(directory.path());
  CHECK(reader.last() == Sequence{30});
  ArchiveCursor cursor = cursor_of(reader);
  CHECK(sequences_of(rest_of(cursor)) == sequences(1, 31));
  CHECK(reader.stream(node_b).error().kind == Kind::unknown_stream);
  CHECK(reader.segments().size() == 3);
  CHECK_FALSE((*reader.catalog())->find_channel(node_b, "later"));
  CHECK(reader.verify().empty());

  archive.publish();
  CHECK(sequences_of(rest_of(cursor)) == sequences(31, 41));
  // What a cursor has seen meanwhile is no part of what the reader shows.
  CHECK(reader.stream(node_b).error().kind == Kind::unknown_stream);
  CHECK(reader.refresh() == true);
  CHECK(reader.stream(node_b)->size() == 10);
  CHECK((*reader.catalog())->find_channel(node_b, "later"));
}

TEST_CASE("a_cursor_that_follows_needs_the_tip_at_the_end_of_a_sealed_segment_no_less") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  archive.publish();
  ArchiveReader reader = reader_of(directory.path());
  ArchiveCursor cursor = cursor_of(reader);
  std::uint64_t expected = 1;
  for (int segment = 0; segment < 4; ++segment) {
    CHECK(rest_of(cursor).empty());
    archive.write_block(node_a, frames_at(expected, 3));
    archive.publish();
    CHECK(sequences_of(rest_of(cursor)) == sequences(expected, expected + 3));
    expected += 3;
    archive.write_block(node_a, frames_at(expected, 2)); // never published by itself
    archive.seal();
    archive.publish();
    if (segment % 2 == 0)
      CHECK(sequences_of(rest_of(cursor)) == sequences(expected, expected + 2));
    archive.begin_segment();
    archive.publish();
    if (segment % 2 == 1)
      CHECK(sequences_of(rest_of(cursor)) == sequences(expected, expected + 2));
    expected += 2;
  }
  ArchiveReader later = reader_of(directory.path());
  CHECK(sequences_of(all_of(later)) == sequences(1, expected));
}

TEST_CASE("declarations_come_before_the_frames_that_need_them_wherever_one_begins") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  for (std::uint64_t segment = 0; segment < 2; ++segment) {
    archive.begin_segment();
    archive.declare(stream_declaration(node_a));
    archive.declare(channel_declaration(node_a, 1, "one"));
    archive.write_block(node_a, frames_at(segment * 4, 2, 1));
    archive.declare(channel_declaration(node_a, 2, "two"));
    archive.write_block(node_a, frames_at(segment * 4 + 2, 2, 2));
    archive.seal();
  }
  archive.publish();
  ArchiveReader reader = reader_of(directory.path());
  for (std::uint64_t from = 1; from <= 8; ++from) {
    CAPTURE(from);
    ArchiveCursor cursor = cursor_of(reader, from);
    std::vector<std::string> declared;
    while (const auto batch = cursor.next()) {
      if (!*batch)
        break;
      for (const std::string& name : declared_in(**batch))
        declared.push_back(name);
      CHECK((*batch)->declarations.empty() != (*batch)->frames.empty());
      for (const FrameView& frame : (*batch)->frames)
        CHECK(std::ranges::count(declared, frame.channel.value == 1 ? "one" : "two") ==
              1 + (from <= 4 && frame.position >= Position{4} ? 1 : 0));
    }
    CHECK(declared.size() == (from <= 4 ? 6 : 3));
  }
  ArchiveCursor of_two = cursor_of(reader, 0, {.channels = {"two"}});
  const auto first = of_two.next();
  REQUIRE(first);
  CHECK(declared_in(**first) == std::vector<std::string>{"node-a#7"});
}

TEST_CASE("what_is_no_archive_is_named_so") {
  TemporaryDirectory directory;
  const auto kind_of = [](const std::filesystem::path& path) {
    return ArchiveReader::open(path).error().kind;
  };
  CHECK(kind_of(directory.path()) == Kind::not_an_archive);
  CHECK(kind_of(directory / "nothing") == Kind::not_an_archive);
}

TEST_CASE("without_a_whole_tip_nothing_is_shown") {
  TemporaryDirectory directory;
  HandMadeArchive archive = three_segments(directory.path());
  const std::string tip = bytes_of(directory / "tip");
  SUBCASE("missing") {
    std::filesystem::remove(directory / "tip");
  }
  SUBCASE("torn") {
    write_bytes(directory / "tip", std::string(format::tip_file_bytes, '\0'));
  }
  const auto reader = ArchiveReader::open(directory.path());
  REQUIRE_FALSE(reader);
  CHECK(reader.error().kind == Kind::damaged);
  CHECK(reader.error().message.find("tip") != std::string::npos);
}

TEST_CASE("a_tip_that_is_torn_for_a_moment_is_looked_at_again") {
  TemporaryDirectory directory;
  HandMadeArchive archive = three_segments(directory.path());
  const std::string tip = bytes_of(directory / "tip");
  ArchiveReader reader = reader_of(directory.path());
  ArchiveCursor cursor = cursor_of(reader, 31);
  write_bytes(directory / "tip", std::string(tip.size(), '\xff'));
  const std::jthread writer([&] {
    std::this_thread::yield();
    std::fstream(directory / "tip", std::ios::binary | std::ios::in | std::ios::out) << tip;
  });
  CHECK(cursor.next());
}

TEST_CASE("a_later_generation_is_unsupported_and_not_passed_over") {
  TemporaryDirectory directory;
  const HandMadeArchive archive = three_segments(directory.path());
  std::filesystem::copy_file(directory / format::segment_name(2),
                             directory / format::segment_name(2, 1));
  CHECK(ArchiveReader::open(directory.path()).error().kind == Kind::unsupported);
}

TEST_CASE("a_later_version_of_a_segment_is_unsupported_and_not_passed_over") {
  TemporaryDirectory directory;
  const HandMadeArchive archive = three_segments(directory.path());
  const auto path = directory / format::segment_name(2);
  std::string bytes = bytes_of(path);
  bytes[8] = 2;
  const std::uint64_t sum = format::checksum({bytes.data(), format::segment_header_bytes - 8});
  bytes.replace(format::segment_header_bytes - 8, 8, reinterpret_cast<const char*>(&sum), 8);
  write_bytes(path, bytes);
  const auto reader = ArchiveReader::open(directory.path());
  REQUIRE_FALSE(reader);
  CHECK(reader.error().kind == Kind::unsupported);
  CHECK(reader.error().message.find(path.string()) != std::string::npos);
}

TEST_CASE("a_cursor_waits_for_more_and_no_longer_than_asked") {
  TemporaryDirectory directory;
  HandMadeArchive archive = three_segments(directory.path());
  ArchiveReader reader = reader_of(directory.path());
  ArchiveCursor cursor = cursor_of(reader, 31);
  const auto begin = std::chrono::steady_clock::now();
  const auto nothing = cursor.next(30ms);
  REQUIRE(nothing);
  CHECK_FALSE(*nothing);
  CHECK(std::chrono::steady_clock::now() - begin >= 30ms);

  const std::jthread writer([&] {
    archive.write_block(node_a, frames_at(30, 1));
    archive.publish();
  });
  const auto batch = cursor.next(patience);
  REQUIRE(batch);
  REQUIRE(*batch);
  CHECK((*batch)->first == Sequence{31});
}

TEST_CASE("a_waiting_cursor_looks_at_the_tip_and_at_nothing_else") {
  TemporaryDirectory directory;
  HandMadeArchive archive = three_segments(directory.path());
  CountedFiles files;
  ArchiveReader reader = reader_of(directory.path(), &files);
  ArchiveCursor cursor = cursor_of(reader);
  CHECK(rest_of(cursor).size() == 30);
  const auto before = files.counts();
  CHECK_FALSE(*cursor.next(100ms));
  CHECK(files.counts().segment_reads == before.segment_reads);
  // No busy loop: two operations for each look, every few milliseconds.
  CHECK(files.counts().operations - before.operations <= 2 * 52);
}

TEST_CASE("following_the_segment_that_is_written_costs_the_same_however_long_it_is") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  archive.publish();
  CountedFiles files;
  ArchiveReader reader = reader_of(directory.path(), &files);
  ArchiveCursor all = cursor_of(reader);
  ArchiveCursor none = cursor_of(reader, 0, {.stream = node_b});
  CHECK(rest_of(all).empty());
  CHECK(rest_of(none).empty());
  for (std::uint64_t i = 0; i < 500; ++i) {
    archive.write_block(node_a, frames_at(i, 1));
    archive.publish();
    const auto before = files.counts();
    CHECK(rest_of(all).size() == 1); // header and directory, which all share; and a body
    const std::uint64_t trailer = i == 0 ? 1 : 0; // looked for once, where the index is empty
    CHECK(files.counts().segment_reads - before.segment_reads == 4 + trailer);
    CHECK(rest_of(none).empty());
    CHECK(files.counts().segment_reads - before.segment_reads == 4 + trailer);
  }
  // A reader that looks again goes on where its index ended, too.
  CHECK(reader.refresh() == true);
  const auto before = files.counts();
  CHECK(reader.stream(node_a)->size() == 500);
  CHECK(files.counts().segment_reads == before.segment_reads);
}

TEST_CASE("a_sealed_segment_costs_its_header_and_footer_until_a_body_is_wanted") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  for (std::uint64_t i = 0; i < 1000; ++i)
    archive.write_block(i % 100 == 99 ? node_b : node_a, frames_at(i, 1));
  archive.seal();
  archive.publish();
  CountedFiles files;
  ArchiveReader reader = reader_of(directory.path(), &files);
  CHECK(reader.streams()->size() == 2);
  // Its header when it is listed and when it is opened; the trailer; the footer's header and body.
  CHECK(files.counts().segment_reads == 5);
  ArchiveCursor cursor = cursor_of(reader, 0, {.stream = node_b});
  CHECK(rest_of(cursor).size() == 10);
  CHECK(files.counts().segment_reads == 5 + 1 + 2 * 10); // opened again; heads and bodies
}

TEST_CASE("indexes_beyond_their_bound_are_read_again_and_those_in_use_are_not") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  constexpr std::uint64_t segments = 48;
  // About three megabytes of index for each segment: twice the bound together.
  for (std::uint64_t segment = 0; segment < segments; ++segment) {
    archive.begin_segment();
    archive.write_block({std::string(900U << 10U, static_cast<char>('a' + segment % 26)), {1}},
                        frames_at(segment, 1));
    archive.write_block(node_a, frames_at(segment, 1));
    if (segment + 1 < segments)
      archive.seal();
  }
  archive.publish();
  CountedFiles files;
  ArchiveReader reader = reader_of(directory.path(), &files);
  std::uint64_t before = files.counts().segment_reads;
  const auto reads = [&] {
    return files.counts().segment_reads - std::exchange(before, files.counts().segment_reads);
  };
  ArchiveCursor cursor = cursor_of(reader, 0, {.stream = node_a}); // stays in the first segment
  REQUIRE(*cursor.next());
  CHECK(reads() > 0);
  // All sealed ones but the first; the last one's header, no trailer, and two blocks.
  constexpr std::uint64_t all = 4 * (segments - 2) + 6;
  CHECK(reader.stream(node_a)->size() == segments);
  CHECK(reads() == all);
  // From the first to the last again: what was kept is forgotten before its turn comes.
  CHECK(reader.stream(node_a)->size() == segments);
  CHECK(reads() == all);
}

TEST_CASE("archive_rule_09_a_failure_of_the_system_never_looks_like_an_absence") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  for (std::uint64_t segment = 0; segment < 3; ++segment) {
    archive.begin_segment();
    archive.declare(channel_declaration(node_a, 1, "one"));
    archive.add(node_a, frames_at(segment * 4, 4));
    archive.add(node_b, frames_at(segment * 4, 4));
    archive.write_block();
    if (segment < 2)
      archive.seal();
  }
  archive.publish();

  // Every operation on a file fails in turn; everything that is asked answers an error, or all.
  const auto check = [&](auto ask) {
    bool failed = true;
    std::uint64_t failures = 0;
    for (std::uint64_t n = 0; failed; ++n) {
      CAPTURE(n);
      CountedFiles files;
      files.fail_after(n);
      auto reader = ArchiveReader::open(directory.path(), &files);
      if (!reader) {
        CHECK(reader.error().kind == Kind::io);
        continue;
      }
      failures += ask(*reader) ? 0 : 1;
      failed = files.counts().operations > n;
      files.fail_no_more();
      CHECK(reader->refresh());
      CHECK(ask(*reader));
    }
    CHECK(failures > 3);
  };
  const auto has_all = [](ArchiveReader& reader, const ReadFilter& filter, std::size_t count) {
    auto cursor = reader.read_from({0}, filter);
    if (!cursor)
      return false;
    std::size_t frames = 0;
    for (;;) {
      const auto batch = cursor->next();
      if (!batch)
        return false;
      if (!*batch)
        break;
      frames += (*batch)->frames.size();
    }
    CHECK(frames == count);
    return true;
  };
  check([&](ArchiveReader& reader) { return has_all(reader, {}, 24); });
  check([&](ArchiveReader& reader) { return has_all(reader, {.channels = {"one"}}, 12); });
  check([](ArchiveReader& reader) {
    const auto streams = reader.streams();
    if (streams)
      CHECK(streams->size() == 2);
    return streams.has_value();
  });
  check([](ArchiveReader& reader) {
    const auto catalog = reader.catalog();
    if (catalog)
      CHECK((*catalog)->version() == 2);
    return catalog.has_value();
  });
  check([](ArchiveReader& reader) {
    const auto stream = reader.stream(node_a);
    if (!stream) {
      CHECK(stream.error().kind == Kind::io);
      return false;
    }
    const auto frame = stream->at({5});
    if (frame)
      CHECK(*frame);
    const auto loaded = stream->load({0}, {UINT64_MAX});
    if (loaded)
      CHECK(loaded->size() == 12);
    return frame && loaded;
  });
}
