/// Who is told of events of an archive, and fails.

#include "archive_test_support.hpp"
#include "disk_gate.hpp"
#include "eventually.hpp"
#include "failing_syncs.hpp"
#include "replaced_log_sink.hpp"
#include "watched_files.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

/// Counts events, and throws each time.
struct ThrowingEvents {
  std::atomic<int> committed{0};
  std::atomic<int> failed{0};
  std::atomic<int> suspended{0};
  std::atomic<int> resumed{0};
  std::atomic<int> stopped{0};

  ArchiveOptions::Events events() {
    const auto note = [](std::atomic<int>& count) {
      ++count;
      throw std::runtime_error("who is told");
    };
    return {.committed = [=, this](std::uint64_t) { note(committed); },
            .failed = [=, this](std::uint64_t) { note(failed); },
            .suspended = [=, this](const ArchiveError&) { note(suspended); },
            .resumed = [=, this] { note(resumed); },
            .stopped = [=, this](const ArchiveError&) { note(stopped); }};
  }
};

} // namespace

TEST_CASE("who_throws_when_told_of_an_event_keeps_the_archive_from_nothing") {
  TemporaryDirectory directory;
  std::atomic<int> logged{0};
  const ReplacedLogSink sink([&](LogSeverity, std::string_view) { ++logged; });
  ThrowingEvents told;
  DiskGate disk;
  const auto archive =
      opened(directory.path(),
             {.group_delay = 0ms, .retry_interval = 1ms, .events = told.events(), .files = &disk});
  archive->append(batch_of(node_a, 0, 10));
  REQUIRE(archive->flush());
  disk.set_full(true);
  archive->append(batch_of(node_a, 10, 10));
  CHECK_FALSE(archive->flush());
  disk.set_full(false);
  CHECK(eventually([&] { return !archive->trouble(); }));
  archive->append(batch_of(node_a, 10, 10));
  REQUIRE(archive->close());
  CHECK(told.committed == 2);
  CHECK(told.suspended == 1);
  CHECK(told.failed == 1);
  CHECK(told.resumed == 1);
  CHECK(logged == 5);
  CHECK(archive->ledger().stored == 20);
  CHECK(archive->ledger().balanced());
}

TEST_CASE("who_throws_when_told_that_an_archive_has_stopped_is_told_the_rest") {
  TemporaryDirectory directory;
  const ReplacedLogSink sink([](LogSeverity, std::string_view) {});
  ThrowingEvents told;
  FailingSyncs syncs;
  WatchedFiles files(directory.path(), syncs);
  const auto archive =
      opened(directory.path(),
             {.events = told.events(), .files = &files.files(), .metadata = files.env()});
  syncs.failing = true;
  archive->append(batch_of(node_a, 0, 10));
  const auto durable = archive->flush();
  REQUIRE_FALSE(durable);
  CHECK(durable.error().kind == ArchiveError::Kind::stopped);
  const auto closed = archive->close();
  REQUIRE_FALSE(closed);
  CHECK(closed.error().kind == ArchiveError::Kind::stopped);
  CHECK(told.stopped == 1);
  CHECK(told.failed == 1);
  CHECK(archive->ledger().not_stored.stopped == 10);
}
