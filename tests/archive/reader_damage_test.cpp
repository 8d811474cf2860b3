/// What a reader makes of segments that are not what was written: the loss is named exactly, and
/// everything else is read.

#include "reader_test_support.hpp"

#include <functional>
#include <ranges>

using namespace datastream;
using namespace datastream::test;

namespace {

using Kind = ArchiveError::Kind;

/// The files of the system, but for the tip, a place of which is torn the first few times.
class TornTip : public CountedFiles {
public:
  TornTip(int torn_reads, std::uint64_t place) : left_(torn_reads), place_(place) {}
  int torn_reads_left() const { return left_; }

  FileResult<std::unique_ptr<File>> open(const std::filesystem::path& path, Mode mode) override {
    auto file = CountedFiles::open(path, mode);
    if (!file || path.filename() != "tip" || left_ == 0)
      return file;
    --left_;
    return std::make_unique<TornFile>(std::move(*file), place_);
  }

private:
  class TornFile : public File {
  public:
    TornFile(std::unique_ptr<File> file, std::uint64_t place)
        : file_(std::move(file)), place_(place) {}
    FileResult<std::size_t> read(std::uint64_t offset, std::span<char> into) override {
      auto count = file_->read(offset, into);
      if (count && offset == 0 && *count > place_ + 40)
        into[place_ + 40] ^= 1;
      return count;
    }
    FileResult<std::uint64_t> size() override { return file_->size(); }
    FileResult<void> write(std::uint64_t offset, std::span<const std::string_view> parts) override {
      return file_->write(offset, parts);
    }
    FileResult<void> sync() override { return file_->sync(); }
    FileResult<void> truncate(std::uint64_t size) override { return file_->truncate(size); }

  private:
    std::unique_ptr<File> file_;
    std::uint64_t place_;
  };

  int left_;
  std::uint64_t place_;
};

/// Three segments, in each of them: declarations, three blocks of four frames, declarations in
/// front of the last one; the last segment is not sealed.
struct Intact {
  explicit Intact(const std::filesystem::path& path) : directory(path) {
    HandMadeArchive archive(path);
    for (std::uint64_t segment = 0; segment < 3; ++segment) {
      archive.begin_segment();
      archive.declare(channel_declaration(node_a, 1, "one"));
      for (std::uint64_t block = 0; block < 3; ++block) {
        if (block == 2)
          archive.declare(channel_declaration(node_b, 1, "two"));
        const std::uint64_t position = segment * 6 + block * 2;
        archive.add(node_a, {{{1}, {position}, "a"}, {{1}, {position + 1}, "aa"}});
        archive.add(node_b, {{{1}, {position}, "b"}, {{2}, {position + 1}, ""}});
        archive.write_block();
      }
      if (segment < 2)
        archive.seal();
      segments.push_back(archive.segment());
    }
    archive.publish();
    blocks = archive.blocks();
    ArchiveReader reader = reader_of(path);
    REQUIRE(reader.verify().empty());
    frames = all_of(reader);
    REQUIRE(sequences_of(frames) == sequences(1, 37));
  }

  std::vector<BlockSite> blocks_of(std::size_t segment) const {
    std::vector<BlockSite> result;
    for (const BlockSite& block : blocks)
      if (block.segment == segments[segment])
        result.push_back(block);
    return result;
  }
  static std::uint64_t first_of(std::size_t segment) { return segment * 12 + 1; }

  std::filesystem::path directory;
  std::vector<std::filesystem::path> segments;
  std::vector<BlockSite> blocks;
  std::vector<StoredFrame> frames;
};

/// Exactly these sequences are lost, and everything else is read as it was. Returns what was said.
Salvage check_lost(const Intact& intact, const std::vector<std::uint64_t>& lost) {
  ArchiveReader reader = reader_of(intact.directory);
  const Salvage rest = salvage(reader);
  CHECK(rest.lost() == lost);
  const std::vector<StoredFrame> readable = without(intact.frames, lost);
  CHECK(rest.frames == readable);

  // It never goes unnoticed, and never costs more, when everything is looked at.
  const std::vector<ArchiveError> faults = reader.verify();
  CHECK_FALSE(faults.empty());
  Salvage verified;
  for (const ArchiveError& fault : faults) {
    if (fault.kind == Kind::damaged)
      CHECK(fault.message.find("at byte") != std::string::npos);
    verified.errors.push_back(fault);
  }
  CHECK(verified.lost() == lost);

  // Streams, with what no index has left out, have the same frames or say what is in their way.
  for (const StreamId& id : {node_a, node_b}) {
    const auto refused = reader.stream(id);
    const auto holes = reader.holes();
    CHECK(refused.has_value() == holes.empty());
    if (!refused)
      CHECK(refused.error() == holes.front());
    const auto stream = reader.stream(id, Holes::leave_out);
    std::vector<Position> expected;
    for (const StoredFrame& frame : readable)
      if (frame.stream == id)
        expected.push_back(frame.frame.position);
    if (!stream) {
      CHECK(stream.error().kind == Kind::unknown_stream);
      CHECK(expected.empty());
      continue;
    }
    std::vector<Position> seen;
    try {
      for (const FrameView& frame : stream->frames())
        seen.push_back(frame.position);
      CHECK(seen == expected);
    } catch (const ArchiveReadFailed& failed) {
      CHECK(failed.error().lost);
      CHECK(std::ranges::find(rest.errors, failed.error().lost, &ArchiveError::lost) !=
            rest.errors.end());
      REQUIRE(seen.size() <= expected.size());
      CHECK(std::ranges::equal(seen, expected | std::views::take(seen.size())));
    }
  }
  return rest;
}

/// Flips one bit of each byte of a segment in turn. `lost_at` says what that costs.
void flip_every_byte(const Intact& intact, std::size_t segment,
                     const std::function<std::vector<std::uint64_t>(std::uint64_t)>& lost_at) {
  const std::filesystem::path& path = intact.segments[segment];
  for (std::uint64_t at = 0, bytes = std::filesystem::file_size(path); at < bytes; ++at) {
    CAPTURE(at);
    flip_bit(path, at, at % 8);
    check_lost(intact, lost_at(at));
    flip_bit(path, at, at % 8);
  }
  CHECK(reader_of(intact.directory).verify().empty());
}

/// The block that a byte lies in.
const BlockSite* block_at(const std::vector<BlockSite>& blocks, std::uint64_t offset) {
  for (const BlockSite& block : blocks)
    if (offset >= block.offset && offset < block.offset + block.size())
      return &block;
  return nullptr;
}

} // namespace

TEST_CASE("a_flipped_bit_of_a_sealed_segment_costs_the_block_that_it_is_in") {
  TemporaryDirectory directory;
  const Intact intact(directory.path());
  const auto blocks = intact.blocks_of(1);
  flip_every_byte(intact, 1, [&](std::uint64_t at) {
    if (at < format::segment_header_bytes)
      return sequences(13, 25);
    if (const BlockSite* block = block_at(blocks, at))
      return sequences(block->first, block->end);
    return sequences(0, 0); // footer and trailer: the blocks are walked
  });
}

TEST_CASE("a_flipped_bit_of_the_segment_that_is_written_costs_the_block_that_it_is_in") {
  TemporaryDirectory directory;
  const Intact intact(directory.path());
  const auto blocks = intact.blocks_of(2);
  flip_every_byte(intact, 2, [&](std::uint64_t at) {
    if (at < format::segment_header_bytes)
      return sequences(25, 37);
    const BlockSite& block = *block_at(blocks, at);
    return sequences(block.first, block.end);
  });
}

TEST_CASE("a_truncated_segment_costs_the_blocks_that_are_not_whole") {
  TemporaryDirectory directory;
  const Intact intact(directory.path());
  for (std::size_t segment = 0; segment < 3; ++segment) {
    CAPTURE(segment);
    const std::string whole = bytes_of(intact.segments[segment]);
    const std::uint64_t end = Intact::first_of(segment) + 12;
    for (std::uint64_t size = 0; size < whole.size(); ++size) {
      CAPTURE(size);
      write_bytes(intact.segments[segment], whole.substr(0, size));
      std::uint64_t readable = Intact::first_of(segment);
      for (const BlockSite& block : intact.blocks_of(segment))
        if (block.offset + block.size() <= size)
          readable = block.end;
      check_lost(intact, sequences(readable, end));
    }
    write_bytes(intact.segments[segment], whole);
  }
}

TEST_CASE("archive_rule_07_a_missing_segment_is_a_hole_on_every_way_to_read") {
  TemporaryDirectory directory;
  const Intact intact(directory.path());
  for (std::size_t segment = 0; segment < 3; ++segment) {
    CAPTURE(segment);
    const auto aside = directory / "aside";
    std::filesystem::rename(intact.segments[segment], aside);
    const std::uint64_t first = Intact::first_of(segment);
    const SequenceRange lost{{first}, {first + 11}};
    const Salvage rest = check_lost(intact, sequences(first, first + 12));
    REQUIRE(rest.errors.size() == 1);
    CHECK(rest.errors[0].kind == Kind::missing);
    CHECK(rest.errors[0].lost == lost);

    ArchiveReader reader = reader_of(directory.path());
    CHECK(reader.last() == Sequence{36});
    CHECK(reader.stream(node_a).error().lost == lost);
    CHECK(reader.streams().error().lost == lost);
    CHECK(reader.catalog().error().lost == lost);
    CHECK(reader.holes() == rest.errors);
    CHECK(reader.stream(StreamId{"nobody", {1}}).error().lost == lost); // and not: unknown
    const auto segments = reader.segments();
    REQUIRE(segments.size() == 3);
    CHECK(segments[segment].error().lost == lost);
    CHECK(reader.streams(Holes::leave_out)->front().frames == 12);
    CHECK(*reader.catalog(Holes::leave_out));

    // A cursor does not pass, however often it tries; also when all that it wants lies elsewhere.
    ArchiveCursor cursor = cursor_of(reader, 0, {.stream = StreamId{"nobody", {1}}});
    for (int attempt = 0; attempt < 3; ++attempt) {
      while (const auto batch = cursor.next())
        REQUIRE(*batch);
      CHECK(cursor.next().error().lost == lost);
      CHECK(cursor.position() == lost.first);
    }
    // In the middle of the hole it says the whole of it.
    ArchiveCursor within = cursor_of(reader, first + 5);
    while (const auto batch = within.next())
      REQUIRE((*batch)->frames.empty());
    CHECK(within.next().error().lost == lost);

    std::filesystem::rename(aside, intact.segments[segment]);
    CHECK(cursor.next());
    CHECK(reader.refresh());
    CHECK(reader.stream(node_a));
    CHECK(reader.verify().empty());
  }
}

TEST_CASE("archive_rule_07_neighbours_that_are_missing_or_damaged_are_one_hole") {
  TemporaryDirectory directory;
  const Intact intact(directory.path());
  const std::string second = bytes_of(intact.segments[1]);
  std::filesystem::remove(intact.segments[0]);
  write_bytes(intact.segments[1], second.substr(0, 60));
  CHECK(check_lost(intact, sequences(1, 25)).errors.size() == 1);
  std::filesystem::remove(intact.segments[1]);
  CHECK(check_lost(intact, sequences(1, 25)).errors.size() == 1);
  std::filesystem::remove(intact.segments[2]);
  CHECK(check_lost(intact, sequences(1, 37)).errors.size() == 1);
}

TEST_CASE("a_segment_of_another_archive_is_damage_and_nothing_of_it_is_read") {
  TemporaryDirectory directory;
  const Intact intact(directory.path());
  TemporaryDirectory other;
  HandMadeArchive archive(other.path(), 'B');
  archive.begin_segment();
  archive.lose(12);
  archive.begin_segment();
  archive.write_block(node_a, std::vector<Frame>(12, Frame{{1}, {0}, "foreign"}));
  archive.seal();
  std::filesystem::copy_file(archive.segment(), intact.segments[1],
                             std::filesystem::copy_options::overwrite_existing);
  const Salvage rest = check_lost(intact, sequences(13, 25));
  CHECK(rest.errors[0].kind == Kind::damaged);
  CHECK(rest.errors[0].message.find("another archive") != std::string::npos);
}

TEST_CASE("a_segment_with_the_name_of_another_one_is_damage") {
  TemporaryDirectory directory;
  const Intact intact(directory.path());
  std::filesystem::copy_file(intact.segments[0], intact.segments[1],
                             std::filesystem::copy_options::overwrite_existing);
  const Salvage rest = check_lost(intact, sequences(13, 25));
  CHECK(rest.errors[0].message.find("the name of another") != std::string::npos);
}

TEST_CASE("segments_that_overlap_are_damage_and_no_sequence_is_given_twice") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  archive.write_block(node_a, {{{1}, {0}, "a"}, {{1}, {1}, "b"}});
  archive.seal();
  archive.tip().end_sequence = 2; // as if the second frame had never been
  archive.begin_segment();
  archive.write_block(node_a, {{{1}, {1}, "c"}});
  archive.publish();
  ArchiveReader reader = reader_of(directory.path());
  ArchiveCursor cursor = cursor_of(reader);
  CHECK(cursor.next());
  const auto next = cursor.next();
  REQUIRE_FALSE(next);
  CHECK(next.error().kind == Kind::damaged);
  CHECK(next.error().lost == SequenceRange{{2}, {2}});
  CHECK_FALSE(reader.stream(node_a));
  CHECK(reader.verify().size() == 1);
}

TEST_CASE("a_loss_that_was_accepted_stays_a_hole_that_the_archive_goes_on_behind") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  archive.write_block(node_a, {{{1}, {0}, "a"}});
  SUBCASE("with bytes that are torn") {
    std::ofstream(archive.segment(), std::ios::app | std::ios::binary) << "torn";
  }
  SUBCASE("with nothing behind") {}
  archive.leave_unsealed();
  archive.lose(9);
  archive.begin_segment();
  archive.write_block(node_a, {{{1}, {10}, "b"}});
  archive.publish();
  ArchiveReader reader = reader_of(directory.path());
  const Salvage rest = salvage(reader);
  CHECK(sequences_of(rest.frames) == std::vector<std::uint64_t>{1, 11});
  CHECK(rest.lost() == sequences(2, 11));
  CHECK(reader.stream(node_a).error().lost == SequenceRange{{2}, {10}});
  CHECK(reader.stream(node_a, Holes::leave_out)->size() == 2);
}

TEST_CASE("names_that_are_damaged_cost_no_frame_unless_it_is_asked_for_by_name") {
  TemporaryDirectory directory;
  const Intact intact(directory.path());
  const BlockSite declarations = intact.blocks_of(1)[3]; // of node-b
  REQUIRE(declarations.first == declarations.end);
  flip_bit(intact.segments[1], declarations.offset + declarations.size() - 1);
  const Salvage rest = check_lost(intact, {});
  REQUIRE(rest.errors.size() == 1);
  CHECK_FALSE(rest.errors[0].lost);

  ArchiveReader reader = reader_of(directory.path());
  CHECK_FALSE(reader.catalog());
  // Any frame of that segment may have a name that it declares.
  std::vector<SequenceRange> lost;
  for (std::uint64_t from = 13; from < 25; from = lost.back().last.value + 1) {
    ArchiveCursor cursor = cursor_of(reader, from, {.channels = {"two"}});
    std::size_t unnamed = 0;
    for (int i = 0; i < 10 && (lost.empty() || lost.back().last.value < from); ++i)
      if (const auto batch = cursor.next(); !batch) {
        if (batch.error().lost)
          lost.push_back(*batch.error().lost);
        else
          ++unnamed;
      }
    CHECK(unnamed == (from == 21 ? 1 : 0));
    REQUIRE(lost.back().first == Sequence{from});
    CHECK(cursor.next().error().lost == lost.back());
  }
  CHECK(lost == std::vector<SequenceRange>{{{13}, {16}}, {{17}, {20}}, {{21}, {24}}});
  // What does not depend on them is read.
  ArchiveCursor named = cursor_of(reader, 13, {.stream = node_a, .channels = {"one"}});
  CHECK_FALSE(named.next()->value().declarations.empty());
  std::size_t frames = 0;
  for (int i = 0; i < 10; ++i)
    if (const auto batch = named.next(); batch && *batch)
      frames += (*batch)->frames.size();
  CHECK(frames == 12);
}

TEST_CASE("a_segment_that_is_shorter_than_the_tip_says_is_damage_though_its_blocks_are_whole") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  archive.write_block(node_a, {{{1}, {0}, "a"}});
  archive.lose(3);
  archive.publish();
  ArchiveReader reader = reader_of(directory.path());
  const Salvage rest = salvage(reader);
  REQUIRE(rest.errors.size() == 1);
  CHECK(rest.errors[0].kind == Kind::damaged);
  CHECK(rest.lost() == sequences(2, 5));
}

TEST_CASE("a_place_of_the_tip_that_is_damaged_is_told_and_everything_that_is_shown_is_read") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  for (int group = 0; group < 2; ++group) {
    write_single_frames(archive, 1);
    archive.publish();
  }
  const std::uint64_t later = archive.tip().count % 2 * format::tip_place_bytes;
  std::uint64_t place = 0;
  SUBCASE("the first") {
    place = 0;
  }
  SUBCASE("the second") {
    place = format::tip_place_bytes;
  }
  ArchiveReader before = reader_of(directory.path());
  flip_bit(directory / "tip", place + 50);
  CHECK(before.holes().empty());
  CHECK(before.verify().size() == 1);

  ArchiveReader reader = reader_of(directory.path());
  const std::size_t shown = place == later ? 1 : 2;
  CHECK(all_of(reader).size() == shown);
  const auto holes = reader.holes();
  REQUIRE(holes.size() == 1);
  CHECK(holes[0].kind == Kind::damaged);
  CHECK_FALSE(holes[0].lost);
  CHECK(holes[0].message.find("tip at byte " + std::to_string(place)) != std::string::npos);
  CHECK(reader.verify() == holes);
  CHECK(reader.segments().back().error() == holes[0]);
  CHECK(reader.stream(node_a).error() == holes[0]);
  CHECK(reader.streams().error() == holes[0]);
  CHECK(reader.catalog().error() == holes[0]);
  CHECK(reader.stream(node_a, Holes::leave_out)->size() == shown);

  // The next group, or opening it for writing, mends that.
  flip_bit(directory / "tip", place + 50);
  CHECK(reader.refresh().has_value());
  CHECK(reader.holes().empty());
  CHECK(all_of(reader).size() == 2);
}

TEST_CASE("a_tip_that_is_whole_when_it_is_read_again_was_being_written") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  for (int group = 0; group < 2; ++group) {
    write_single_frames(archive, 1);
    archive.publish();
  }
  TornTip files(3, archive.tip().count % 2 * format::tip_place_bytes);
  ArchiveReader reader = reader_of(directory.path(), &files);
  CHECK(files.torn_reads_left() == 0);
  CHECK(reader.holes().empty());
  CHECK(reader.last() == Sequence{2});
}
