#include "archive_test_support.hpp"
#include "eventually.hpp"
#include "watched_files.hpp"

#include <datastream/archive/archive_reader.hpp>

#include <atomic>
#include <functional>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

/// Refuses operations from one of them on, for so many. Of a refused write so many halves are
/// written all the same.
class Refusal : public FileWatcher {
public:
  Refusal(std::size_t first, std::size_t count, std::size_t halves_written)
      : first_(first), end_(first + count), halves_written_(halves_written) {}

  /// Were there operations enough?
  bool happened() const { return seen_ > first_; }
  /// Has it come to a sync of what is not the index?
  bool of_sync() const { return of_sync_; }
  const std::string& what() const { return what_; }

private:
  Verdict judge(const FileOperation& operation) override {
    using Kind = FileOperation::Kind;
    const std::size_t number = seen_++;
    if (number < first_ || number >= end_)
      return {};
    const bool sync = operation.is(Kind::sync) || operation.is(Kind::sync_directory);
    of_sync_ = of_sync_ || (sync && !operation.of_index());
    what_ += std::to_string(int(operation.kind)) + ' ' + operation.path + '\n';
    return {sync ? std::errc::io_error : std::errc::no_space_on_device,
            operation.bytes.size() * halves_written_ / 2};
  }

  std::size_t first_;
  std::size_t end_;
  std::size_t halves_written_;
  std::atomic<std::size_t> seen_ = 0;
  std::atomic<bool> of_sync_ = false;
  std::string what_;
};

/// Sends batches and names until they are acknowledged, as a source does.
class Source {
public:
  Source(const std::filesystem::path& directory, WatchedFiles& files)
      : directory_(directory), files_(files) {}
  ~Source() {
    if (archive_)
      (void)archive_->close();
  }

  void declare(const Declaration& declaration) {
    declared_.push_back(declaration);
    archive().declare(declaration);
  }

  void send(const std::vector<FrameBatch>& batches) {
    for (std::size_t tries = 0;; ++tries) {
      REQUIRE(tries < 100);
      std::size_t refused = 0;
      for (const FrameBatch& batch : batches) {
        const auto appended = archive().append(batch);
        CHECK(appended.conflicts == 0);
        CHECK(appended.taken + appended.duplicates + appended.unverified + appended.not_stored ==
              batch.size());
        refused += appended.not_stored;
        check_ledger();
      }
      const auto durable = archive().flush();
      check_ledger();
      CHECK(archive().ledger().pending == 0);
      if (durable && refused == 0) {
        check_reader();
        return;
      }
      get_well();
    }
  }

  void close() {
    if (archive_ && !archive_->close())
      CHECK(archive_->trouble());
    archive_.reset();
  }

  std::atomic<int> suspended{0};
  std::atomic<int> resumed{0};
  std::atomic<int> stopped{0};

private:
  Archive& archive() {
    for (std::size_t tries = 0; !archive_; ++tries) {
      REQUIRE(tries < 100);
      auto opened =
          Archive::open(directory_, {.group_delay = 1h,
                                     .segment_bytes = 1500,
                                     .retry_interval = 1ms,
                                     .events = {.suspended = [this](const auto&) { ++suspended; },
                                                .resumed = [this] { ++resumed; },
                                                .stopped = [this](const auto&) { ++stopped; }},
                                     .files = &files_.files(),
                                     .metadata = files_.env()});
      if (!opened) {
        CHECK_MESSAGE((opened.error().kind == ArchiveError::Kind::io ||
                       opened.error().kind == ArchiveError::Kind::no_room),
                      opened.error());
        continue;
      }
      archive_ = std::move(*opened);
      CHECK(archive_->recovery().holes.empty());
      before_ = archive_->last_durable().value;
      for (const Declaration& declaration : declared_)
        archive_->declare(declaration);
    }
    return *archive_;
  }

  /// Waits until the archive goes on by itself; opens it again if it never will.
  void get_well() {
    CHECK(eventually([&] { return !archive_->trouble() || stopped > 0; }));
    if (stopped == 0)
      return;
    CHECK(archive_->trouble());
    const auto refused = archive_->append(batch_of(node_a, 1'000'000, 1));
    CHECK(refused.not_stored == 1);
    CHECK(archive_->ledger().not_stored.stopped > 0);
    CHECK(archive_->trouble()->kind == ArchiveError::Kind::stopped);
    CHECK(archive_->flush().error() == *archive_->trouble());
    CHECK(!archive_->close());
    archive_.reset();
    stopped = 0;
    ++stops;
  }

  void check_ledger() {
    const ArchiveLedger ledger = archive_->ledger();
    CHECK(ledger.balanced());
  }

  /// What is acknowledged is readable, and is what the ledger says.
  void check_reader() {
    CHECK(archive_->last_durable().value == before_ + archive_->ledger().stored);
    auto reader = ArchiveReader::open(directory_);
    REQUIRE(reader);
    // The tip may have been what failed. It follows, unless that makes the archive stop.
    CHECK(eventually([&] {
      return stopped > 0 || (reader->refresh() && reader->last() == archive_->last_durable());
    }));
  }

  std::filesystem::path directory_;
  WatchedFiles& files_;
  std::unique_ptr<Archive> archive_;
  std::vector<Declaration> declared_;
  std::uint64_t before_ = 0;

public:
  int stops = 0;
};

/// Lets operations fail, and checks that nothing is lost. Returns whether it came to that.
bool survives(std::size_t first, std::size_t count, std::size_t halves_written) {
  TemporaryDirectory root;
  const std::filesystem::path directory = root / "archive";
  Refusal refusal(first, count, halves_written);
  WatchedFiles files(root.path(), refusal);
  {
    Source source(directory, files);
    source.declare(channel_declaration(node_a, 1, "one"));
    source.send({batch_of(node_a, 0, 10, 1, 50), batch_of(node_b, 0, 3, 1, 50)});
    source.declare(channel_declaration(node_b, 1, "of b"));
    for (std::uint64_t at = 10; at < 100; at += 30)
      source.send({batch_of(node_a, at, 30, 1, 100), batch_of(node_b, at, 30, 1, 10)});
    source.close();
    source.send({batch_of(node_a, 90, 20, 1, 100)});
    source.close();
    if (!refusal.of_sync())
      CHECK(source.stops == 0);
    CHECK(source.suspended >= source.resumed);
  }
  // And nothing fails any more.
  const auto archive = opened(directory);
  CHECK(archive->recovery().holes.empty());
  CHECK(archive->catalog().find_channel(node_a, ChannelId{1}));
  CHECK(archive->catalog().find_channel(node_b, ChannelId{1}));
  std::map<StreamId, std::uint64_t> next;
  std::uint64_t sequence = 0;
  bool right = true;
  for (const StoredFrame& frame : frames_in(directory)) {
    std::uint64_t& position = next[frame.stream];
    if (frame.stream == node_b && position == 3)
      position = 10;
    right = right && frame.sequence == ++sequence && frame.frame.position.value == position++;
  }
  CHECK(right);
  CHECK(sequence == 203);
  CHECK(ArchiveReader::open(directory)->verify().empty());
  return refusal.happened();
}

} // namespace

TEST_CASE("each_file_operation_in_turn_may_fail_and_nothing_acknowledged_is_lost") {
  for (std::size_t halves_written : {0U, 1U, 2U}) {
    CAPTURE(halves_written);
    std::size_t failed = 0;
    for (bool happened = true; happened; ++failed) {
      CAPTURE(failed);
      happened = survives(failed, 1, halves_written);
    }
    CHECK(failed > 100);
  }
}

TEST_CASE("several_file_operations_may_fail_also_while_the_archive_tries_again") {
  for (std::size_t count : {2U, 3U, 20U}) {
    CAPTURE(count);
    std::size_t failed = 0;
    for (bool happened = true; happened; ++failed) {
      CAPTURE(failed);
      happened = survives(failed, count, 2);
    }
  }
}
