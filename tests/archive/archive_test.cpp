#include "archive_test_support.hpp"

#include "eventually.hpp"
#include "forwarded_files.hpp"
#include "own_threads.hpp"

#include <datastream/archive/archive_reader.hpp>
#include <datastream/archive/reindex.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <iterator>
#include <pthread.h>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

/// Files of an archive with whose tip the memory for stacks of new threads ends: it is the last one
/// to be written before the archive has a thread of its own.
class NoMoreThreads : public ForwardedFiles {
public:
  NoMoreThreads() { REQUIRE(pthread_getattr_default_np(&before_) == 0); }
  ~NoMoreThreads() override { pthread_attr_destroy(&before_); }
  void end() { pthread_setattr_default_np(&before_); }

  FileResult<std::unique_ptr<File>> open(const std::filesystem::path& path, Mode mode) override {
    auto file = ForwardedFiles::open(path, mode);
    if (file && mode != Mode::read && path.filename() == "tip")
      return std::make_unique<Tip>(std::move(*file));
    return file;
  }

private:
  class Tip : public ForwardedFile {
  public:
    using ForwardedFile::ForwardedFile;
    FileResult<void> write(std::uint64_t offset, std::span<const std::string_view> parts) override {
      pthread_attr_t huge;
      pthread_attr_init(&huge);
      pthread_attr_setstacksize(&huge, std::size_t{1} << 50U);
      pthread_setattr_default_np(&huge);
      pthread_attr_destroy(&huge);
      return ForwardedFile::write(offset, parts);
    }
  };

  pthread_attr_t before_{};
};

} // namespace

TEST_CASE("an_archive_that_can_start_no_thread_is_an_error_and_can_be_opened_again") {
  TemporaryDirectory directory;
  NoMoreThreads files;
  const auto archive = Archive::open(directory.path(), {.files = &files});
  files.end();
  REQUIRE_FALSE(archive);
  CHECK(archive.error().kind == ArchiveError::Kind::io);
  CHECK(archive.error().message.find(directory.path().string()) != std::string::npos);
  CHECK(opened(directory.path())->append(batch_of(node_a, 0, 1)).taken == 1);
}

TEST_CASE("options_that_are_out_of_bounds_are_bad_input_and_make_no_archive") {
  TemporaryDirectory directory;
  const std::filesystem::path path = directory / "archive";
  for (const ArchiveOptions& options :
       {ArchiveOptions{.group_bytes = 0}, ArchiveOptions{.group_delay = -1ms},
        ArchiveOptions{.group_delay = 24h + 1ms},
        ArchiveOptions{.group_delay = std::chrono::milliseconds::max()},
        ArchiveOptions{.retry_interval = 0ms}, ArchiveOptions{.retry_interval = 24h + 1ms},
        ArchiveOptions{.retry_interval = std::chrono::milliseconds::max()}}) {
    CAPTURE(options.group_delay.count());
    CAPTURE(options.retry_interval.count());
    const auto archive = Archive::open(path, options);
    REQUIRE_FALSE(archive);
    CHECK(archive.error().kind == ArchiveError::Kind::bad_input);
    CHECK_FALSE(std::filesystem::exists(path));
  }
  for (const ArchiveOptions& options :
       {ArchiveOptions{.group_bytes = 1, .group_delay = 0ms, .retry_interval = 1ms},
        ArchiveOptions{.group_delay = 24h, .retry_interval = 24h}}) {
    const auto archive = opened(path, options);
    archive->append(batch_of(node_a, archive->last_durable().value, 10));
    REQUIRE(archive->flush());
  }
  CHECK(frames_in(path).size() == 20);
}

TEST_CASE("what_was_flushed_is_there_when_the_archive_is_opened_again") {
  TemporaryDirectory directory;
  {
    auto archive = opened(directory.path());
    CHECK(archive->recovery().created);
    CHECK(archive->append(batch_of(node_a, 0, 1000)).taken == 1000);
    CHECK(archive->append(batch_of(node_b, 5, 10)).taken == 10);
    const auto last = archive->flush();
    REQUIRE(last);
    CHECK(*last == Sequence{1010});
    CHECK(archive->highest_durable(node_b) == Position{14});
    CHECK(archive->ledger().balanced());
    CHECK(archive->ledger().stored == 1010);
  }
  auto archive = opened(directory.path());
  CHECK_FALSE(archive->recovery().created);
  CHECK(archive->recovery().torn_bytes == 0);
  CHECK(archive->recovery().adopted_frames == 0);
  CHECK(archive->last_durable() == Sequence{1010});
  const auto frames = frames_in(directory.path());
  REQUIRE(frames.size() == 1010);
  for (std::size_t i = 0; i < frames.size(); ++i)
    CHECK(frames[i].sequence == i + 1);
  CHECK(frames[1009].frame.payload == "node-b 14");
}

TEST_CASE("a_position_is_stored_once_in_all_lives_of_an_archive") {
  TemporaryDirectory directory;
  {
    auto archive = opened(directory.path());
    archive->append(batch_of(node_a, 0, 100));
    const auto again = archive->append(batch_of(node_a, 50, 100));
    CHECK(again.duplicates == 50);
    CHECK(again.taken == 50);
    const auto other = archive->append(batch_of(node_a, 0, 10, 2));
    CHECK(other.conflicts == 10);
    CHECK(archive->append(batch_of({"node-a", {8}}, 0, 10)).taken == 10);
  }
  {
    auto archive = opened(directory.path());
    // Nobody remembers what they were, but they are known.
    CHECK(archive->append(batch_of(node_a, 0, 200)).unverified == 150);
    CHECK(archive->append(batch_of(node_a, 190, 20)).duplicates == 10);
    CHECK(archive->ledger().balanced());
  }
  CHECK(frames_in(directory.path()).size() == 220);
}

TEST_CASE("many_batches_of_many_streams_become_durable_together") {
  TemporaryDirectory directory;
  auto archive = opened(directory.path(), {.group_delay = 1h});
  for (std::uint64_t life = 0; life < 100; ++life)
    archive->append(batch_of({"n", {life}}, 0, 10));
  CHECK(archive->ledger().pending == 1000);
  REQUIRE(archive->flush());
  CHECK(archive->ledger().commits == 1);
  CHECK(archive->ledger().stored == 1000);
}

TEST_CASE("a_group_is_committed_when_its_time_has_come_or_it_is_full_or_somebody_asks") {
  TemporaryDirectory directory;
  std::atomic<std::uint64_t> committed{0};
  const auto note = [&](std::uint64_t ticket) { committed = ticket; };
  {
    auto archive = opened(directory / "time", {.group_delay = 1ms, .events = {.committed = note}});
    const auto appended = archive->append(batch_of(node_a, 0, 1));
    CHECK(eventually([&] { return committed >= appended.ticket; }));
  }
  committed = 0;
  {
    auto archive =
        opened(directory / "size",
               {.group_bytes = 10'000, .group_delay = 1h, .events = {.committed = note}});
    archive->append(batch_of(node_a, 0, 100, 1, 120));
    CHECK(eventually([&] { return committed == 1; }));
  }
  committed = 0;
  {
    auto archive = opened(directory / "asked", {.group_delay = 1h, .events = {.committed = note}});
    const auto appended = archive->append(batch_of(node_a, 0, 1));
    archive->commit();
    CHECK(eventually([&] { return committed >= appended.ticket; }));
  }
}

TEST_CASE("archive_rule_10_who_appends_waits_for_a_full_group_and_never_for_ever") {
  TemporaryDirectory directory;
  // Nothing but size ever triggers, and each batch is larger than a group.
  auto archive = opened(directory.path(), {.group_bytes = 1000, .group_delay = 1h});
  std::vector<std::thread> producers;
  for (std::uint64_t life = 0; life < 4; ++life)
    producers.emplace_back([&, life] {
      for (std::uint64_t first = 0; first < 2000; first += 100)
        archive->append(batch_of({"n", {life}}, first, 100, 1, 100));
    });
  for (std::thread& producer : producers)
    producer.join();
  REQUIRE(archive->flush());
  CHECK(archive->ledger().stored == 8000);
  CHECK(archive->ledger().balanced());
}

TEST_CASE("no_group_is_larger_than_what_the_index_of_a_segment_can_take") {
  const TemporaryDirectory directory;
  auto archive = opened(directory.path(), {.group_bytes = 1U << 30U, .group_delay = 1h});
  for (std::uint64_t i = 0; i < 400; ++i)
    CHECK(archive->append(batch_of({std::string(100'000, 'n'), {i}}, 0, 1, 1, 100'000)).taken == 1);
  REQUIRE(archive->flush());
  archive->append(batch_of(node_a, 0, 1));
  REQUIRE(archive->close());
  auto reader = ArchiveReader::open(directory.path());
  REQUIRE(reader);
  for (const ArchiveError& fault : reader->verify())
    FAIL_CHECK(fault);
  CHECK(reader->last() == Sequence{401});
}

TEST_CASE("archive_rule_01_sealed_segments_are_read_only_and_never_change") {
  TemporaryDirectory directory;
  std::vector<std::pair<std::string, std::string>> sealed;
  {
    auto archive = opened(directory.path(), {.segment_bytes = 1024});
    for (std::uint64_t first = 0; first < 1000; first += 50) {
      archive->append(batch_of(node_a, first, 50, 1, 100));
      REQUIRE(archive->flush());
    }
    const auto names = segment_names(directory.path());
    REQUIRE(names.size() > 3);
    for (const std::string& name : names) {
      const auto segment = SegmentFile::open(posix_file_system(), directory / name);
      REQUIRE(segment);
      const auto footer = segment->read_footer(*segment->size());
      REQUIRE(footer);
      CHECK(footer->has_value() == (name != names.back()));
      if (name == names.back())
        continue;
      CHECK((std::filesystem::status(directory / name).permissions() &
             std::filesystem::perms(0222)) == std::filesystem::perms::none);
      sealed.emplace_back(name, bytes_of(directory / name));
    }
    for (std::uint64_t first = 1000; first < 2000; first += 50)
      archive->append(batch_of(node_a, first, 50, 1, 100));
  }
  auto archive = opened(directory.path(), {.segment_bytes = 1024});
  for (const auto& [name, bytes] : sealed)
    CHECK(bytes_of(directory / name) == bytes);
  const auto frames = frames_in(directory.path());
  REQUIRE(frames.size() == 2000);
  for (std::size_t i = 0; i < frames.size(); ++i)
    CHECK(frames[i].frame.position.value == i);
}

TEST_CASE("the_frames_of_a_segment_can_be_named_from_the_segment_alone") {
  TemporaryDirectory directory;
  {
    auto archive = opened(directory.path(), {.segment_bytes = 1024});
    archive->declare(stream_declaration(node_a));
    for (std::uint32_t channel = 1; channel <= 20; ++channel)
      archive->declare(channel_declaration(node_a, channel, "name " + std::to_string(channel)));
    for (std::uint64_t first = 0; first < 1000; first += 50) {
      archive->append(batch_of(node_a, first, 50, 1 + first / 50, 100));
      REQUIRE(archive->flush());
    }
  }
  const auto names = segment_names(directory.path());
  REQUIRE(names.size() > 3);
  for (const std::string& name : names) {
    const auto segment = SegmentFile::open(posix_file_system(), directory / name);
    REQUIRE(segment);
    SegmentDeclarations known;
    std::size_t declared = 0;
    const std::uint64_t size = *segment->size();
    for (BlockPlace place = segment->begin(); place.offset < size;) {
      const auto entry = segment->read_entry(place, size);
      REQUIRE(entry);
      if (entry->header.kind == format::BlockKind::footer)
        break;
      if (entry->header.kind == format::BlockKind::descriptors) {
        const auto descriptors =
            format::decode_descriptors(entry->header, *segment->read_body(*entry));
        REQUIRE(descriptors);
        for (const Declaration& declaration : descriptors->declarations) {
          CHECK_FALSE(known.has(declaration));
          known.add(declaration);
          ++declared;
        }
      }
      for (const format::BlockStream& stream : entry->directory.streams) {
        CHECK(known.has(*stream.stream));
        for (std::uint32_t channel : stream.channels)
          CHECK(known.has(*stream.stream, {channel}));
      }
      place = behind(*entry);
    }
    // Only what is used, but for the first segment, where everything became known.
    if (name != names.front())
      CHECK(declared < 10);
  }
  auto archive = opened(directory.path());
  CHECK(archive->catalog().find_channel(node_a, ChannelId{20})->name == "name 20");
  CHECK(archive->catalog().find_stream(node_a)->label == "label");
}

TEST_CASE("one_at_a_time_has_an_archive_open_for_writing") {
  TemporaryDirectory directory;
  auto archive = opened(directory.path());
  const auto second = Archive::open(directory.path());
  REQUIRE_FALSE(second);
  CHECK(second.error().kind == ArchiveError::Kind::locked);
  CHECK(reindex(directory.path()).error().kind == ArchiveError::Kind::locked);
  archive.reset();
  CHECK(Archive::open(directory.path()));
}

TEST_CASE("a_closed_archive_counts_what_it_is_given") {
  TemporaryDirectory directory;
  auto archive = opened(directory.path());
  archive->append(batch_of(node_a, 0, 10));
  CHECK(*archive->close() == Sequence{10});
  CHECK(*archive->close() == Sequence{10});
  CHECK(archive->append(batch_of(node_a, 10, 5)).not_stored == 5);
  CHECK(archive->ledger().not_stored.stopped == 5);
  CHECK(archive->ledger().balanced());
}

TEST_CASE("an_index_that_is_lost_is_made_again_from_the_segments") {
  TemporaryDirectory directory;
  {
    auto archive = opened(directory.path(), {.segment_bytes = 1024});
    archive->declare(channel_declaration(node_a, 1, "one"));
    for (std::uint64_t first = 0; first < 1000; first += 50) {
      archive->append(batch_of(node_a, first, 50, 1, 100));
      REQUIRE(archive->flush());
    }
  }
  std::filesystem::remove_all(directory / "index");
  SUBCASE("when the archive is opened") {
    auto archive = opened(directory.path());
    CHECK(archive->recovery().reindexed);
    CHECK(archive->recovery().holes.empty());
    CHECK(archive->append(batch_of(node_a, 0, 1000, 1, 100)).duplicates == 1000);
    CHECK(archive->catalog().find_channel(node_a, ChannelId{1})->name == "one");
    CHECK(archive->last_durable() == Sequence{1000});
  }
  SUBCASE("by hand") {
    const auto report = reindex(directory.path());
    REQUIRE(report);
    CHECK(report->holes.empty());
    auto archive = opened(directory.path());
    CHECK_FALSE(archive->recovery().reindexed);
    CHECK(archive->append(batch_of(node_a, 0, 1000)).unverified == 1000);
  }
}

TEST_CASE("only_what_was_never_acknowledged_is_cut_from_the_last_segment") {
  TemporaryDirectory directory;
  {
    auto archive = opened(directory.path());
    archive->append(batch_of(node_a, 0, 10));
    REQUIRE(archive->flush());
  }
  const std::filesystem::path last = directory / segment_names(directory.path()).back();
  const std::string whole = bytes_of(last);
  write_bytes(last, whole + std::string(100, 'x'));
  auto archive = opened(directory.path());
  CHECK(archive->recovery().torn_bytes == 100);
  CHECK(frames_in(directory.path()).size() == 10);
  CHECK(archive->append(batch_of(node_a, 10, 1)).taken == 1);
  REQUIRE(archive->flush());
  CHECK(frames_in(directory.path()).back().sequence == 11);
}

TEST_CASE("archive_rule_08_an_archive_that_lacks_what_it_acknowledged_does_not_open") {
  TemporaryDirectory directory;
  {
    auto archive = opened(directory.path());
    archive->append(batch_of(node_a, 0, 10));
    REQUIRE(archive->flush());
  }
  const std::filesystem::path last = directory / segment_names(directory.path()).back();
  const std::string whole = bytes_of(last);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_bytes(last, whole.substr(0, size));
    const auto archive = Archive::open(directory.path());
    REQUIRE_FALSE(archive);
    CHECK(archive.error().kind == ArchiveError::Kind::metadata_ahead);
    CHECK(archive.error().message.find(last.filename().string()) != std::string::npos);
    CHECK(archive.error().message.find("datastream-archive reindex") != std::string::npos);
    CHECK(bytes_of(last).size() == size);
  }
}

TEST_CASE("who_accepts_a_loss_goes_on_behind_it_with_new_sequences") {
  TemporaryDirectory directory;
  {
    auto archive = opened(directory.path());
    archive->append(batch_of(node_a, 0, 10));
    REQUIRE(archive->flush());
    archive->append(batch_of(node_a, 10, 10));
    REQUIRE(archive->flush());
  }
  const std::filesystem::path last = directory / segment_names(directory.path()).back();
  std::string bytes = bytes_of(last);
  bytes.pop_back();
  write_bytes(last, bytes);
  REQUIRE_FALSE(Archive::open(directory.path()));
  const auto report = reindex(directory.path());
  REQUIRE(report);
  REQUIRE(report->holes.size() == 1);
  CHECK(report->holes[0].lost == SequenceRange{{11}, {20}});
  CHECK(bytes_of(last) == bytes);
  auto archive = opened(directory.path());
  CHECK(archive->append(batch_of(node_a, 10, 10)).taken == 10);
  CHECK(*archive->flush() == Sequence{30});
  const auto frames = frames_in(directory.path());
  REQUIRE(frames.size() == 20);
  CHECK(frames[9].sequence == 10);
  CHECK(frames[10].sequence == 21);
}

TEST_CASE("threads_of_an_archive_take_no_signal_of_the_program") {
  TemporaryDirectory directory;
  const std::set<std::string> before = threads();
  const auto archive = opened(directory.path());
  std::vector<std::string> started;
  std::ranges::set_difference(threads(), before, std::back_inserter(started));
  CHECK_FALSE(started.empty());
  for (const std::string& thread : started)
    CHECK(blocks(thread, SIGTERM));
}

TEST_CASE("the_rest_of_a_batch_that_filled_groups_is_durable_after_the_delay_by_itself") {
  TemporaryDirectory directory;
  const auto archive = Archive::open(
      directory.path(), {.group_bytes = 4096, .group_delay = std::chrono::milliseconds(1)});
  REQUIRE(archive);
  for (std::uint64_t round = 0; round < 300; ++round) {
    CAPTURE(round);
    (*archive)->append(batch_of(node_a, 1000 * round, 1000)); // several groups and a rest
    const Sequence last{1000 * (round + 1)};
    REQUIRE(eventually([&] { return (*archive)->last_durable() == last; }));
  }
}
