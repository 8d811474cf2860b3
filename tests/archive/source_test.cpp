/// Where the frames of an archive come from, as the archive itself says.

#include "archive_test_support.hpp"
#include "format/descriptors_block.hpp"
#include "read_block.hpp"
#include "segment_file.hpp"

#include <datastream/archive/archive.hpp>
#include <datastream/archive/archive_reader.hpp>
#include <datastream/archive/reindex.hpp>

#include <doctest/doctest.h>

#include <temporary_directory.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

using namespace datastream;
using namespace datastream::test;

namespace {

/// Appends frames in groups of ten, each of which becomes durable.
void append_groups(Archive& archive, std::uint64_t first, std::size_t groups) {
  for (std::size_t i = 0; i < groups; ++i) {
    archive.append(batch_of(node_a, first + 10 * i, 10, 1, 100));
    REQUIRE(archive.flush());
  }
}

std::string source_of(const std::filesystem::path& directory) {
  auto reader = ArchiveReader::open(directory);
  REQUIRE(reader);
  const auto source = reader->source();
  REQUIRE(source);
  return *source;
}

/// One block of descriptors that says the source.
struct Said {
  std::string source;
  std::uint64_t offset = 0;
  bool before_frames = false;
};

std::vector<Said> said_in(const std::filesystem::path& path) {
  const auto segment = SegmentFile::open(posix_file_system(), path);
  REQUIRE(segment);
  std::vector<Said> said;
  bool frames = false;
  for (BlockPlace place = segment->begin(); place.offset < *segment->size();) {
    const auto entry = segment->read_entry(place, *segment->size());
    REQUIRE(entry);
    if (entry->header.kind == format::BlockKind::footer)
      break;
    frames |= entry->header.kind == format::BlockKind::frames;
    if (entry->header.kind == format::BlockKind::descriptors) {
      const auto descriptors = read_descriptors(*segment, *entry);
      REQUIRE(descriptors);
      if (descriptors->source)
        said.push_back({*descriptors->source, place.offset, !frames});
    }
    place = behind(*entry);
  }
  return said;
}

} // namespace

TEST_CASE("an_archive_tells_its_source_and_nothing_if_it_was_given_none") {
  const TemporaryDirectory directory;
  {
    const auto archive = opened(directory / "with", {.source = "orchestrator"});
    append_groups(*archive, 0, 1);
    CHECK(source_of(directory / "with") == "orchestrator"); // also while it is written
  }
  append_groups(*opened(directory / "without"), 0, 1);
  CHECK(source_of(directory / "with") == "orchestrator");
  CHECK(source_of(directory / "without").empty());
}

TEST_CASE("each_segment_is_told_the_source_once_and_before_its_frames") {
  const TemporaryDirectory directory;
  const ArchiveOptions options{.source = "orchestrator", .segment_bytes = 1000};
  for (std::uint64_t life = 0; life < 4; ++life) // which go on in the segment of the one before
    append_groups(*opened(directory.path(), options), 30 * life, 3);
  const auto names = segment_names(directory.path());
  CHECK(names.size() > 2);
  CHECK(names.size() < 4 * 3);
  for (const std::string& name : names) {
    const std::vector<Said> said = said_in(directory / name);
    REQUIRE(said.size() == 1);
    CHECK(said.front().source == "orchestrator");
    CHECK(said.front().before_frames);
  }
}

TEST_CASE("of_several_sources_the_one_that_was_said_last_counts") {
  const TemporaryDirectory directory;
  const auto write = [&](const std::string& source, std::uint64_t first) {
    append_groups(*opened(directory.path(), {.source = source}), first, 1);
    return source_of(directory.path());
  };
  CHECK(write("first", 0) == "first");
  CHECK(write("second", 10) == "second");
  CHECK(write("", 20) == "second"); // who says none changes none
  CHECK(write("first", 30) == "first");
  opened(directory.path(), {.source = "wrote nothing"});
  CHECK(source_of(directory.path()) == "first");
  const auto names = segment_names(directory.path());
  REQUIRE(names.size() == 1);
  CHECK(said_in(directory / names.front()).size() == 3);
}

TEST_CASE("a_source_is_in_the_segments_and_needs_no_index") {
  const TemporaryDirectory directory;
  append_groups(*opened(directory.path(), {.source = "orchestrator"}), 0, 1);
  std::filesystem::remove_all(directory / "index");
  REQUIRE(reindex(directory.path()));
  append_groups(*opened(directory.path(), {.source = "orchestrator"}), 10, 1);
  CHECK(source_of(directory.path()) == "orchestrator");
  CHECK(said_in(directory / segment_names(directory.path()).front()).size() == 1);
}

TEST_CASE("a_source_that_no_segment_can_hold_is_refused_before_anything_is_made") {
  const TemporaryDirectory directory;
  ArchiveOptions options;
  options.source = std::string(format::text_bytes_max + 1, 's');
  const auto refused = Archive::open(directory / "archive", options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ArchiveError::Kind::bad_input);
  CHECK_FALSE(std::filesystem::exists(directory / "archive"));
  options.source.pop_back();
  append_groups(*opened(directory / "archive", options), 0, 1);
  CHECK(source_of(directory / "archive") == options.source);
}

TEST_CASE("where_a_source_may_have_been_said_and_cannot_be_read_is_an_error") {
  const TemporaryDirectory directory;
  append_groups(*opened(directory.path(), {.source = "first"}), 0, 1);
  append_groups(*opened(directory.path(), {.source = "second"}), 10, 1);
  const std::filesystem::path path = directory / segment_names(directory.path()).front();
  const std::vector<Said> said = said_in(path);
  REQUIRE(said.size() == 2);
  flip_bit(path, said[1].offset + format::block_header_bytes + 6); // in its body
  auto reader = ArchiveReader::open(directory.path());
  REQUIRE(reader);
  const auto refused = reader->source();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ArchiveError::Kind::damaged);
  CHECK(reader->source(Holes::leave_out) == std::string("first"));
}
