/// An archive when an allocation fails, or all of them for a while: what is lost is counted, and
/// nothing is taken for damaged.

#include "under_tsan.hpp"

#if !DATASTREAM_UNDER_TSAN

#include "archive_test_support.hpp"
#include "eventually.hpp"
#include "forwarded_files.hpp"
#include "shortage.hpp"
#include "watched_files.hpp"

#include <datastream/archive/archive_reader.hpp>

#include <atomic>
#include <map>
#include <new>
#include <optional>
#include <set>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

/// The memory of RocksDB is not what is tested: it fares badly without. Nothing is short any more
/// once it writes.
class IndexWatch : public FileWatcher {
public:
  std::atomic<bool> refuses_next{false};
  std::atomic<bool> happened{false}; ///< an allocation has failed in a thread that wrote the index

private:
  Verdict judge(const FileOperation& operation) override {
    if (!operation.of_index())
      return {};
    happened = happened || Shortage::happened();
    Shortage::end();
    return {refuses_next.exchange(false) ? std::errc::io_error : std::errc{}};
  }
};

/// Files of an archive of which the first segment that is opened to be read finds a shortage.
class ReplayShortage : public ForwardedFiles {
public:
  explicit ReplayShortage(std::size_t n) : n_(n) {}
  /// Ends it. Did it make an allocation fail?
  bool end() {
    const bool happened = begun_ && Shortage::happened();
    shortage_.reset();
    return happened;
  }

  FileResult<std::unique_ptr<File>> open(const std::filesystem::path& path, Mode mode) override {
    auto file = ForwardedFiles::open(path, mode);
    if (!begun_ && mode == Mode::read && format::parse_segment_name(path.filename().string())) {
      begun_ = true;
      shortage_.emplace(n_);
    }
    return file;
  }

private:
  std::size_t n_;
  bool begun_ = false;
  std::optional<Shortage> shortage_;
};

/// Whole, and to have a new segment for almost every group.
std::unique_ptr<Archive> opened_whole(const std::filesystem::path& directory,
                                      ArchiveOptions options = {}) {
  options.group_delay = 1h;
  options.segment_bytes = 600;
  options.retry_interval = 1ms;
  auto archive = opened(directory, std::move(options));
  CHECK(archive->recovery().holes.empty());
  return archive;
}

/// Every frame of both streams is there once, from 0 on.
void check_frames(const std::filesystem::path& directory, std::size_t of_each) {
  std::map<StreamId, std::set<std::uint64_t>> positions;
  const auto frames = frames_in(directory);
  for (const StoredFrame& frame : frames)
    positions[frame.stream].insert(frame.frame.position.value);
  CHECK(frames.size() == 2 * of_each);
  for (const StreamId& stream : {node_a, node_b}) {
    CHECK(positions[stream].size() == of_each);
    CHECK(*positions[stream].rbegin() == of_each - 1);
  }
  CHECK(ArchiveReader::open(directory)->verify().empty());
}

bool is_damage(const ArchiveError& error) {
  using Kind = ArchiveError::Kind;
  return error.kind != Kind::io && error.kind != Kind::no_room;
}

/// A sweep: the committing thread lacks memory after its n-th allocation, until it says that the
/// archive is suspended or writes the index.
void lack_memory_while_committing(Shortage::Of of) {
  bool happened = true;
  std::size_t n = 0;
  for (; happened; ++n) {
    CAPTURE(n);
    TemporaryDirectory directory;
    IndexWatch watch;
    WatchedFiles index(directory.path(), watch);
    {
      // The committing thread is ours for a moment when it says that it goes on after a failure.
      // What it does next is to commit.
      std::atomic<bool> short_of_memory{false};
      std::atomic<bool> told_as_damage{false};
      std::optional<Shortage> shortage;
      const auto archive =
          opened_whole(directory.path(),
                       {.events = {.suspended =
                                       [&](const ArchiveError& error) {
                                         if (!short_of_memory)
                                           return;
                                         watch.happened = watch.happened || Shortage::happened();
                                         Shortage::end();
                                         told_as_damage = told_as_damage || is_damage(error);
                                       },
                                   .resumed =
                                       [&] {
                                         if (!short_of_memory)
                                           shortage.emplace(n, of);
                                         short_of_memory = true;
                                       }},
                        .metadata = index.env()});
      std::uint64_t offered = 0;
      const auto append = [&](std::uint64_t first, std::size_t count) {
        std::size_t not_stored = 0;
        for (const StreamId& stream : {node_a, node_b}) {
          not_stored += archive->append(batch_of(stream, first, count, 1, 100)).not_stored;
          offered += count;
        }
        return not_stored == 0;
      };
      watch.refuses_next = true;
      REQUIRE(append(0, 20));
      REQUIRE(eventually([&] {
        (void)archive->flush();
        return short_of_memory.load();
      }));
      archive->declare(channel_declaration(node_a, 1, "name"));
      append(20, 10);
      const auto durable = archive->flush();
      if (!durable)
        CHECK_MESSAGE(!is_damage(durable.error()), durable.error());
      // And so they come again. The archive goes on by itself.
      CHECK(eventually([&] {
        const bool taken = append(20, 10);
        const auto flushed = archive->flush();
        CHECK((flushed || !is_damage(flushed.error())));
        CHECK(archive->ledger().balanced());
        return flushed && taken;
      }));
      const ArchiveLedger ledger = archive->ledger();
      CHECK(ledger.offered == offered);
      CHECK(ledger.stored == 60);
      CHECK(ledger.pending == 0);
      CHECK(ledger.refused_declarations == 0);
      const auto closed = archive->close();
      happened = watch.happened;
      if (!closed) // it was the index that lacked memory, and opening sees to that
        CHECK(happened);
      CHECK_FALSE(told_as_damage);
    }
    const auto archive = opened_whole(directory.path());
    check_frames(directory.path(), 30);
    CHECK(archive->catalog().find_channel(node_a, ChannelId{1}));
  }
  CHECK(n > 20);
}

/// Files whose syncs fail, while a test says so, with no memory to tell of it.
class SyncsWithoutMemory : public ForwardedFiles {
public:
  std::atomic<bool> failing{false};

  FileResult<std::unique_ptr<File>> open(const std::filesystem::path& path, Mode mode) override {
    auto file = ForwardedFiles::open(path, mode);
    if (!file)
      return file;
    return std::make_unique<Synced>(*this, std::move(*file));
  }

private:
  class Synced : public ForwardedFile {
  public:
    Synced(SyncsWithoutMemory& files, std::unique_ptr<File> file)
        : ForwardedFile(std::move(file)), files_(files) {}
    FileResult<void> sync() override {
      if (files_.failing)
        throw std::bad_alloc();
      return ForwardedFile::sync();
    }

  private:
    SyncsWithoutMemory& files_;
  };
};

} // namespace

TEST_CASE("memory_that_is_missing_while_appending_costs_counted_frames_and_no_stream") {
  TemporaryDirectory directory;
  {
    const auto archive = opened_whole(directory.path());
    std::uint64_t done = 0;
    bool happened = true;
    for (std::size_t n = 0; happened; ++n, done += 20) {
      CAPTURE(n);
      const FrameBatch batch = batch_of(node_a, done, 20, 1, 100);
      const std::uint64_t before = archive->ledger().not_stored.out_of_memory;
      Archive::Appended appended;
      {
        const Shortage shortage(n);
        appended = archive->append(batch);
        happened = Shortage::happened();
      }
      CHECK(archive->ledger().balanced());
      CHECK(appended.taken + appended.not_stored == 20);
      CHECK(archive->ledger().not_stored.out_of_memory - before == appended.not_stored);
      CHECK(archive->append(batch).taken == appended.not_stored); // and so it comes again
      CHECK(archive->append(batch_of(node_b, done, 20, 1, 100)).taken == 20);
      REQUIRE(archive->flush());
    }
    CHECK(done >= 60);
    CHECK(archive->ledger().balanced());
    REQUIRE(archive->close());
    check_frames(directory.path(), done);
  }
  opened_whole(directory.path());
}

TEST_CASE("a_stream_whose_first_frame_found_no_memory_has_nothing_that_is_durable") {
  std::size_t without_frame = 0;
  bool happened = true;
  for (std::size_t n = 0; happened; ++n) {
    CAPTURE(n);
    TemporaryDirectory directory;
    const auto archive = opened_whole(directory.path());
    const FrameBatch batch = batch_of(node_a, 5, 1);
    Archive::Appended appended;
    {
      const Shortage shortage(n);
      appended = archive->append(batch);
      happened = Shortage::happened();
    }
    archive->append(batch_of(node_b, 0, 1));
    REQUIRE(archive->flush());
    const bool taken = appended.taken == 1;
    CHECK(archive->highest_durable(node_a) == (taken ? std::optional(Position{5}) : std::nullopt));
    CHECK(archive->highest_durable(node_b) == Position{0});
    without_frame += taken ? 0 : 1;
  }
  CHECK(without_frame > 2);
}

TEST_CASE("memory_that_is_missing_for_a_declaration_loses_no_name") {
  TemporaryDirectory directory;
  std::uint32_t channels = 0;
  {
    const auto archive = opened_whole(directory.path());
    bool happened = true;
    for (std::size_t n = 0; happened; ++n) {
      const Declaration declaration = channel_declaration(node_a, ++channels, "name");
      try {
        const Shortage shortage(n);
        archive->declare(declaration);
        happened = Shortage::happened();
      } catch (const std::bad_alloc&) {
        archive->declare(declaration);
      }
    }
    CHECK(channels > 2);
    REQUIRE(archive->close());
  }
  const auto archive = opened_whole(directory.path());
  for (std::uint32_t channel = 1; channel <= channels; ++channel)
    CHECK(archive->catalog().find_channel(node_a, ChannelId{channel}));
}

TEST_CASE("memory_that_is_missing_while_committing_costs_counted_frames_and_no_stream") {
  lack_memory_while_committing(Shortage::Of::one);
}

TEST_CASE("memory_that_stays_missing_while_committing_suspends_the_archive_until_it_is_back") {
  lack_memory_while_committing(Shortage::Of::all);
}

TEST_CASE("a_sync_that_fails_without_memory_to_say_so_is_a_sync_that_failed") {
  TemporaryDirectory directory;
  SyncsWithoutMemory files;
  std::atomic<int> stopped{0};
  std::atomic<int> suspended{0};
  const auto archive =
      opened_whole(directory.path(), {.events = {.suspended = [&](const auto&) { ++suspended; },
                                                 .stopped = [&](const auto&) { ++stopped; }},
                                      .files = &files});
  archive->append(batch_of(node_a, 0, 10));
  REQUIRE(archive->flush());
  files.failing = true;
  archive->append(batch_of(node_a, 10, 10));
  const auto durable = archive->flush();
  REQUIRE_FALSE(durable);
  CHECK(durable.error().kind == ArchiveError::Kind::stopped);
  files.failing = false;
  CHECK(archive->append(batch_of(node_a, 20, 10)).not_stored == 10);
  CHECK_FALSE(archive->close());
  CHECK(stopped == 1);
  CHECK(suspended == 0);
  CHECK(archive->ledger().not_stored.stopped == 20);
  CHECK(archive->ledger().balanced());
}

TEST_CASE("memory_that_is_missing_while_segments_are_replayed_is_told_as_such") {
  constexpr std::uint32_t channels = 20; // so that the tables of the catalog grow
  bool happened = true;
  std::size_t n = 0;
  for (; happened; ++n) {
    CAPTURE(n);
    TemporaryDirectory directory;
    {
      const auto archive = opened_whole(directory.path());
      archive->declare(stream_declaration(node_a));
      for (std::uint32_t channel = 1; channel <= channels; ++channel)
        for (const StreamId& stream : {node_a, node_b})
          archive->declare(channel_declaration(stream, channel, "a name that is long enough"));
      for (std::uint64_t first = 0; first < 40; first += 20) {
        archive->append(batch_of(node_a, first, 20, 1, 100));
        archive->append(batch_of(node_b, first, 20, 1, 100));
        REQUIRE(archive->flush());
      }
      REQUIRE(archive->close());
    }
    std::filesystem::remove_all(directory / "index");
    ReplayShortage files(n);
    IndexWatch watch;
    WatchedFiles index(directory.path(), watch);
    try {
      const auto archive =
          Archive::open(directory.path(), {.files = &files, .metadata = index.env()});
      if (!archive)
        CHECK_MESSAGE(!is_damage(archive.error()), archive.error());
      else
        CHECK((*archive)->recovery().holes.empty());
    } catch (const std::bad_alloc&) {
    }
    happened = files.end();
    const auto archive = opened_whole(directory.path());
    CHECK(archive->last_durable() == Sequence{80});
    CHECK(archive->catalog().version() == 2 + 2 * channels);
    check_frames(directory.path(), 40);
  }
  CHECK(n > 100);
}

#endif
