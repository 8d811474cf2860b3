/// Kinds of failures that users of comparable archives have met: docs/testing.md lists them.

#include "archive_test_support.hpp"
#include "watched_files.hpp"

#include <datastream/archive/archive_reader.hpp>

#include <atomic>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

/// A hundred frames in each of several sealed segments.
void write_segments(const std::filesystem::path& directory, std::uint64_t segments) {
  const auto archive = opened(directory, {.segment_bytes = 1000});
  for (std::uint64_t segment = 0; segment < segments; ++segment) {
    archive->append(batch_of(node_a, segment * 100, 100, 1, 100));
    REQUIRE(archive->flush());
  }
}

/// Refuses to sync a segment, once it is told to.
class NoSync : public FileWatcher {
public:
  std::atomic<bool> refuses{false};

private:
  Verdict judge(const FileOperation& operation) override {
    if (refuses && operation.is(FileOperation::Kind::sync) && operation.of_segment())
      return {std::errc::io_error};
    return {};
  }
};

} // namespace

TEST_CASE("a_range_that_comes_ten_times_and_in_every_life_is_stored_once_and_counted") {
  TemporaryDirectory directory;
  for (std::uint64_t life = 0; life < 3; ++life) {
    const auto archive = opened(directory.path());
    for (int time = 0; time < 10; ++time)
      archive->append(batch_of(node_a, 0, 100));
    REQUIRE(archive->flush());
    const ArchiveLedger ledger = archive->ledger();
    CHECK(ledger.stored == (life == 0 ? 100 : 0));
    CHECK(ledger.duplicates + ledger.unverified == (life == 0 ? 900 : 1000));
    CHECK(ledger.balanced());
  }
  CHECK(frames_in(directory.path()).size() == 100);
}

TEST_CASE("a_duplicate_after_a_million_other_frames_is_not_stored_again") {
  TemporaryDirectory directory;
  const auto archive = opened(directory.path(), {.compared_frames = 10'000});
  const FrameBatch early = batch_of(node_a, 0, 1000);
  archive->append(early);
  for (std::uint64_t first = 0; first < 1'000'000; first += 1000)
    archive->append(batch_of(node_b, first, 1000));
  const auto again = archive->append(early);
  CHECK(again.taken == 0);
  CHECK(again.unverified == 1000); // known to be stored, and no longer compared
  REQUIRE(archive->flush());
  CHECK(archive->ledger().stored == 1'001'000);
  CHECK(archive->ledger().balanced());
}

TEST_CASE("of_ten_thousand_streams_with_few_frames_a_conflict_is_told_from_a_duplicate") {
  TemporaryDirectory directory;
  const auto archive = opened(directory.path());
  constexpr std::uint64_t streams = 10'000;
  const auto send = [&](std::size_t payload_bytes) {
    Archive::Appended sum;
    for (std::uint64_t i = 0; i < streams; ++i) {
      const auto appended =
          archive->append(batch_of({"n" + std::to_string(i), {1}}, 0, 5, 1, payload_bytes));
      sum.taken += appended.taken;
      sum.duplicates += appended.duplicates;
      sum.conflicts += appended.conflicts;
    }
    return sum;
  };
  CHECK(send(20).taken == 5 * streams);
  REQUIRE(archive->flush());
  CHECK(send(20).duplicates == 5 * streams);
  CHECK(send(30).conflicts == 5 * streams);
  CHECK(archive->ledger().balanced());
}

TEST_CASE("a_write_that_breaks_off_at_any_byte_costs_what_was_not_acknowledged_and_no_more") {
  TemporaryDirectory directory;
  {
    const auto archive = opened(directory.path());
    archive->append(batch_of(node_a, 0, 10));
    REQUIRE(archive->flush());
  }
  const std::filesystem::path segment = directory / segment_names(directory.path()).back();
  const std::string acknowledged = bytes_of(segment);
  const std::string tip = bytes_of(directory / "tip");
  TemporaryDirectory further;
  std::filesystem::copy(directory.path(), further.path(), std::filesystem::copy_options::recursive);
  {
    const auto archive = opened(further.path());
    archive->append(batch_of(node_a, 10, 10));
    REQUIRE(archive->flush());
  }
  const std::string whole = bytes_of(further / segment.filename());
  REQUIRE(whole.starts_with(acknowledged));
  for (std::size_t size = acknowledged.size(); size <= whole.size(); ++size) {
    CAPTURE(size);
    TemporaryDirectory broken;
    std::filesystem::copy(directory.path(), broken.path(),
                          std::filesystem::copy_options::recursive);
    write_bytes(broken / segment.filename(), whole.substr(0, size));
    const auto archive = opened(broken.path());
    const bool complete = size == whole.size();
    CHECK(archive->recovery().torn_bytes == (complete ? 0 : size - acknowledged.size()));
    CHECK(archive->recovery().adopted_frames == (complete ? 10 : 0));
    CHECK(archive->recovery().holes.empty());
    CHECK(archive->append(batch_of(node_a, 0, 20)).taken == (complete ? 0 : 10));
    CHECK(*archive->flush() == Sequence{20});
    CHECK(frames_in(broken.path()).size() == 20);
  }
}

TEST_CASE("no_flipped_bit_makes_opening_cut_what_was_acknowledged") {
  TemporaryDirectory directory;
  {
    const auto archive = opened(directory.path());
    archive->declare(channel_declaration(node_a, 1, "one"));
    archive->append(batch_of(node_a, 0, 10));
    REQUIRE(archive->flush());
  }
  const std::filesystem::path segment = directory / segment_names(directory.path()).back();
  const std::string whole = bytes_of(segment);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    CAPTURE(at);
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1 << at % 8);
    write_bytes(segment, damaged);
    const auto archive = Archive::open(directory.path());
    // What the index knows already is not read again, and is left to readers to find.
    if (archive)
      CHECK((*archive)->last_durable() == Sequence{10});
    CHECK(bytes_of(segment) == damaged);
  }
}

TEST_CASE("a_segment_that_was_cut_in_the_middle_of_others_is_a_hole_that_is_told_at_once") {
  TemporaryDirectory directory;
  write_segments(directory.path(), 10);
  const auto names = segment_names(directory.path());
  REQUIRE(names.size() == 10);
  const std::filesystem::path second = directory / names[1];
  const std::string cut = bytes_of(second).substr(0, std::filesystem::file_size(second) / 2);
  write_bytes(second, cut);
  const auto archive = opened(directory.path());
  REQUIRE(archive->recovery().holes.size() == 1);
  CHECK(archive->recovery().holes[0].kind == ArchiveError::Kind::damaged);
  CHECK(archive->recovery().holes[0].message.find(names[1]) != std::string::npos);
  CHECK(bytes_of(second) == cut); // only of the last segment a tail may be torn
  // And the archive works.
  CHECK(archive->append(batch_of(node_b, archive->last_durable().value, 10)).taken == 10);
  REQUIRE(archive->flush());
  auto reader = ArchiveReader::open(directory.path());
  REQUIRE(reader);
  CHECK(reader->verify().size() == 1);
  auto cursor = reader->read_from({301});
  REQUIRE(cursor);
  CHECK(cursor->next());
}

TEST_CASE("archive_rule_08_a_sync_that_fails_stops_the_archive_until_it_is_opened_again") {
  TemporaryDirectory directory;
  NoSync no_sync;
  WatchedFiles files(directory.path(), no_sync);
  std::atomic<int> stopped{0};
  std::atomic<int> resumed{0};
  {
    const auto archive = opened(
        directory.path(),
        {.group_delay = 1h,
         .retry_interval = 1ms,
         .events = {.resumed = [&] { ++resumed; }, .stopped = [&](const auto&) { ++stopped; }},
         .files = &files.files()});
    archive->append(batch_of(node_a, 0, 10));
    REQUIRE(archive->flush());
    no_sync.refuses = true;
    archive->append(batch_of(node_a, 10, 10));
    CHECK_FALSE(archive->flush());
    no_sync.refuses = false;
    // Another sync would succeed, and say nothing of what the first one should have written.
    CHECK(archive->append(batch_of(node_a, 10, 10)).not_stored == 10);
    CHECK_FALSE(archive->flush());
    CHECK(archive->trouble());
    CHECK(archive->ledger().stored == 10);
    CHECK(archive->ledger().not_stored.stopped == 20);
    CHECK(archive->ledger().balanced());
    CHECK_FALSE(archive->close());
  }
  CHECK(stopped == 1);
  CHECK(resumed == 0);
  const auto archive = opened(directory.path());
  archive->append(batch_of(node_a, 10, 10));
  CHECK(*archive->flush() == Sequence{20});
}
