/// What a reader finds behind a block whose head is damaged in a segment without a footer, and what
/// it does not take for a block.

#include "reader_test_support.hpp"

#include "format/checksum.hpp"

#include <datastream/archive/reindex.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

using namespace datastream;
using namespace datastream::test;

namespace {

/// Flips a bit in the head of a block.
void damage_head(const BlockSite& block, std::uint64_t byte = 20) {
  flip_bit(block.segment, block.offset + byte);
}

/// Reads on every way, and expects that exactly these sequences are lost of `count`.
void check_lost(const std::filesystem::path& directory, std::uint64_t count,
                const std::vector<SequenceRange>& lost) {
  ArchiveReader reader = reader_of(directory);
  const Salvage rest = salvage(reader);
  CHECK(rest.lost_ranges() == lost);
  std::vector<std::uint64_t> expected;
  std::ranges::set_difference(sequences(1, count + 1), rest.lost(), std::back_inserter(expected));
  CHECK(sequences_of(rest.frames) == expected);
  CHECK(reader.holes() == rest.errors);
  CHECK(reader.verify() == rest.errors);
  CHECK(reader.stream(node_a).error() == rest.errors.front());
  std::vector<std::uint64_t> positions;
  for (const FrameView& frame : reader.stream(node_a, Holes::leave_out)->frames())
    positions.push_back(frame.position.value);
  CHECK(positions == expected);
}

/// A segment of another archive, of blocks with one frame each, as a payload may have it.
std::string foreign_segment(std::uint64_t first, std::uint64_t end, bool sealed) {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path(), 'B');
  archive.store_raw();
  archive.lose(first - 1);
  archive.begin_segment();
  write_single_frames(archive, end - first, "foreign");
  if (sealed)
    archive.seal();
  return bytes_of(archive.segment());
}

/// A head that nobody but a forger writes: of these sequences, and with all that follows it for a
/// body, or only with as many bytes.
std::string forged_head(std::uint64_t first, std::uint64_t frames, std::string_view body,
                        bool knows_body) {
  format::FramesBlockBuilder builder;
  builder.begin_batch(std::make_shared<const StreamId>(node_a), 0);
  for (std::uint64_t i = 0; i < frames; ++i)
    builder.add({{1}, {i}, "", {}});
  format::Compressor compressor;
  format::UnplacedBlock block = builder.finish(compressor);
  block.header.compression = format::Compression::none;
  block.header.stored_bytes = block.header.raw_bytes = static_cast<std::uint32_t>(body.size());
  block.header.body_checksum = knows_body ? format::checksum(body) : 0;
  block.place(first, 0);
  return block.encoded_header() + block.directory;
}

} // namespace

TEST_CASE("one_bit_in_one_of_three_thousand_heads_costs_one_block") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  const auto blocks = write_single_frames(archive, 3000);
  archive.publish();
  damage_head(blocks[1499]);
  check_lost(directory.path(), 3000, {{{1500}, {1500}}});
}

TEST_CASE("between_two_heads_that_are_damaged_nothing_is_known") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  const auto blocks = write_single_frames(archive, 30);
  archive.publish();
  damage_head(blocks[4]);
  damage_head(blocks[19]);
  check_lost(directory.path(), 30, {{{5}, {20}}});
}

TEST_CASE("a_damaged_head_of_a_sealed_segment_whose_footer_is_damaged_too_costs_one_block") {
  for (const bool trailer : {false, true}) {
    CAPTURE(trailer);
    TemporaryDirectory directory;
    HandMadeArchive archive(directory.path());
    archive.begin_segment();
    const auto blocks = write_single_frames(archive, 30);
    archive.seal();
    const auto sealed = archive.segment();
    archive.begin_segment();
    write_single_frames(archive, 3);
    archive.publish();
    damage_head(blocks[4]);
    flip_bit(sealed, trailer ? std::filesystem::file_size(sealed) - 1
                             : blocks.back().offset + blocks.back().size() + 70);
    ArchiveReader reader = reader_of(directory.path());
    const Salvage rest = salvage(reader);
    CHECK(rest.lost() == sequences(5, 6));
    CHECK(rest.frames.size() == 32);
    CHECK(reader.verify().size() >= 2);
  }
}

TEST_CASE("what_looks_like_a_block_in_a_payload_is_none") {
  const std::uint64_t count = 12;
  for (const bool sealed : {false, true})
    for (const std::uint64_t first : {1, 4, 5, 9}) // of the copy
      for (const std::uint64_t end : {10, 13, 30}) {
        CAPTURE(sealed);
        CAPTURE(first);
        CAPTURE(end);
        TemporaryDirectory directory;
        HandMadeArchive archive(directory.path());
        archive.store_raw();
        archive.begin_segment();
        const std::string copy = foreign_segment(first, end, sealed);
        std::vector<BlockSite> blocks = write_single_frames(archive, 4);
        for (std::uint64_t i = 4; i < count; ++i)
          blocks.push_back(write_single_frames(archive, 1, copy).front());
        archive.publish();
        REQUIRE(bytes_of(archive.segment()).find(copy) != std::string::npos);
        damage_head(blocks[3]);
        check_lost(directory.path(), count, {{{4}, {4}}});
        damage_head(blocks[3]); // whole again
        damage_head(blocks[4]); // which has a copy itself
        check_lost(directory.path(), count, {{{5}, {5}}});
        damage_head(blocks[4]);
        damage_head(blocks.back());
        check_lost(directory.path(), count, {{{12}, {12}}});
      }
}

TEST_CASE("a_forged_head_that_reaches_to_the_end_hides_nothing") {
  // In the third of twelve blocks, of one frame each.
  std::uint64_t first = 3;
  std::uint64_t frames = 10;
  bool knows_body = true;
  SUBCASE("that does not know what will follow") {
    knows_body = false;
  }
  SUBCASE("that does not know how much will follow") {
    frames = 9;
  }
  SUBCASE("that speaks of more than there is") {
    frames = 11;
  }
  SUBCASE("that speaks of what is there already") {
    first = 1;
    frames = 12;
  }
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.store_raw();
  archive.begin_segment();
  write_single_frames(archive, 2);
  const std::string room(forged_head(first, frames, {}, false).size(), ' ');
  const BlockSite holder = write_single_frames(archive, 1, room).front();
  write_single_frames(archive, 9);
  archive.publish();
  std::string bytes = bytes_of(archive.segment());
  const std::uint64_t payload = holder.offset + format::block_header_bytes + holder.directory_bytes;
  const std::string rest = bytes.substr(payload + room.size());
  bytes.replace(payload, room.size(), forged_head(first, frames, rest, knows_body));
  REQUIRE(bytes.ends_with(rest));
  bytes[holder.offset + 20] ^= 1;
  write_bytes(archive.segment(), bytes);
  check_lost(directory.path(), 12, {{{3}, {3}}});
}

TEST_CASE("a_chain_that_contradicts_the_next_segment_is_not_followed") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  std::vector<BlockSite> blocks;
  for (std::uint64_t at = 1; at < 13; at += 2)
    blocks.push_back(archive.write_block(node_a, {{{1}, {at}, "a"}, {{1}, {at + 1}, "b"}}));
  archive.leave_unsealed();
  archive.tip().end_sequence = 8; // in the middle of a block
  archive.begin_segment();
  archive.write_block(node_a, {{{1}, {8}, "next"}});
  archive.publish();
  damage_head(blocks[1]);
  check_lost(directory.path(), 8, {{{3}, {7}}});
}

TEST_CASE("a_follower_is_told_of_a_damaged_head_and_goes_on_behind_it") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  write_single_frames(archive, 3);
  archive.publish();
  ArchiveReader reader = reader_of(directory.path());
  ArchiveCursor cursor = cursor_of(reader);
  CHECK(rest_of(cursor).size() == 3);
  // The last one: nothing is behind it yet.
  const BlockSite damaged = write_single_frames(archive, 1).front();
  archive.publish();
  damage_head(damaged);
  CHECK(cursor.next().error().lost == SequenceRange{{4}, {4}});
  write_single_frames(archive, 2);
  archive.publish();
  CHECK(cursor.next().error().lost == SequenceRange{{4}, {4}});
  CHECK(reader.refresh().has_value());
  ArchiveCursor behind = cursor_of(reader, 5);
  CHECK(sequences_of(rest_of(behind)) == sequences(5, 7));
  write_single_frames(archive, 2);
  archive.publish();
  CHECK(sequences_of(rest_of(behind)) == sequences(7, 9));
  // The writer knows its blocks, and so does its footer; and the archive goes on.
  archive.seal();
  archive.begin_segment();
  write_single_frames(archive, 1);
  archive.publish();
  CHECK(sequences_of(rest_of(behind)) == sequences(9, 10));
  ArchiveReader later = reader_of(directory.path());
  CHECK(salvage(later).lost() == sequences(4, 5));
}

TEST_CASE("blocks_behind_a_damaged_head_are_read_also_once_the_loss_was_accepted") {
  TemporaryDirectory directory;
  const auto write = [&](std::uint64_t first, std::uint64_t count) {
    const auto archive = Archive::open(directory.path());
    REQUIRE(archive);
    for (std::uint64_t at = first; at < first + count; ++at) {
      (*archive)->append(batch_of(node_a, at, 1));
      REQUIRE((*archive)->flush());
    }
  };
  write(1, 20);
  const auto segment = directory / segment_names(directory.path()).back();
  const auto file = SegmentFile::open(posix_file_system(), segment);
  REQUIRE(file);
  BlockPlace place = file->begin();
  for (int block = 0; block < 7; ++block)
    place = behind(*file->read_entry(place, *file->size()));
  REQUIRE(place.sequence == 8);
  std::string bytes = bytes_of(segment);
  bytes[place.offset + 20] ^= 1;
  SUBCASE("and nothing is behind what was acknowledged") {}
  SUBCASE("and something is that is torn") {
    // Where the segment ended nobody knows any more.
    bytes += "torn";
  }
  const bool torn = bytes.ends_with("torn");
  write_bytes(segment, bytes);
  check_lost(directory.path(), 20, {{{8}, {8}}});

  const auto refused = Archive::open(directory.path());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ArchiveError::Kind::metadata_ahead);
  CHECK(refused.error().message.find("datastream-archive reindex") != std::string::npos);
  REQUIRE(reindex(directory.path()));
  CHECK(bytes_of(segment) == bytes);
  write(21, 5);
  check_lost(directory.path(), 25, {{{8}, {torn ? 20U : 8U}}});
}

TEST_CASE("what_was_never_acknowledged_is_not_read_behind_an_accepted_loss") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  const auto blocks = write_single_frames(archive, 10);
  archive.publish();
  const format::Tip acknowledged = archive.tip();
  write_single_frames(archive, 3); // whole, and behind the tip
  SUBCASE("with a damaged head before") {
    damage_head(blocks[4]);
  }
  SUBCASE("with all heads whole") {}
  const bool damaged = reader_of(directory.path()).verify().size() == 1;
  archive.leave_unsealed();
  archive.tip().end_sequence = acknowledged.end_sequence;
  archive.begin_segment();
  write_single_frames(archive, 2);
  archive.publish();
  if (damaged) {
    check_lost(directory.path(), 12, {{{5}, {5}}});
  } else {
    ArchiveReader reader = reader_of(directory.path());
    CHECK(sequences_of(all_of(reader)) == sequences(1, 13));
  }
}
