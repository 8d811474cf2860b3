#include "archive_test_support.hpp"
#include "hand_made_archive.hpp"

#include <datastream/archive/archive_reader.hpp>

using namespace datastream;
using namespace datastream::test;

namespace {

const StreamId node_a{"node-a", {7}};
const StreamId node_b{"node-b", {8}};

ArchiveReader reader_of(const std::filesystem::path& directory, FileSystem* files = nullptr) {
  auto reader = ArchiveReader::open(directory, files);
  if (!reader)
    FAIL(reader.error());
  return std::move(*reader);
}

/// Everything that a cursor gives now.
std::vector<StoredFrame> rest_of(ArchiveCursor& cursor) {
  std::vector<StoredFrame> frames;
  for (;;) {
    const auto batch = cursor.next();
    if (!batch)
      FAIL(batch.error());
    if (!*batch)
      return frames;
    for (std::size_t i = 0; i < (*batch)->frames.size(); ++i)
      frames.push_back(
          {(*batch)->sequence(i).value, (*batch)->frames.stream(), (*batch)->frames[i].to_frame()});
  }
}

} // namespace

TEST_CASE("a_reader_gives_what_a_writer_has_stored") {
  TemporaryDirectory directory;
  auto archive = Archive::open(directory.path(), {.segment_bytes = 16U << 10U});
  REQUIRE(archive);
  for (std::uint64_t i = 0; i < 50; ++i) {
    (*archive)->append(batch_of(node_a, i * 20, 20));
    (*archive)->append(batch_of(node_b, i * 5, 5));
    REQUIRE((*archive)->flush());
  }
  auto reader = reader_of(directory.path());
  CHECK(reader.last() == Sequence{1250});
  auto cursor = reader.read_from({0});
  REQUIRE(cursor);
  CHECK(rest_of(*cursor) == frames_in(directory.path()));
  CHECK(cursor->position() == Sequence{1251});
  CHECK(reader.verify().empty());
  CHECK(reader.segments().size() > 1);
  REQUIRE(reader.streams());
  CHECK(reader.streams()->size() == 2);
  const auto stream = reader.stream(node_a);
  REQUIRE(stream);
  CHECK(stream->size() == 1000);
  std::uint64_t expected = 0;
  for (const FrameView& frame : stream->frames())
    CHECK(frame.position.value == expected++);
  CHECK(expected == 1000);
}
