/// Directories and segments under names that survive, and that errors tell.

#include "archive_test_support.hpp"
#include "eventually.hpp"
#include "simulated_disk.hpp"
#include "watched_files.hpp"

#include <atomic>
#include <deque>
#include <random>

namespace fs = std::filesystem;
using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;
using Kind = FileOperation::Kind;

namespace {

const StreamId stream_a{"node-a", {7}};

/// Notes what is done; from some operation on refuses everything, as if the process had been
/// killed.
class Life : public FileWatcher {
public:
  std::deque<FileOperation> operations;
  std::size_t until = SIZE_MAX;

private:
  Verdict judge(const FileOperation&) override {
    return {operations.size() < until ? std::errc{} : std::errc::io_error};
  }
  void done(FileOperation operation) override { operations.push_back(std::move(operation)); }
};

/// Refuses the sync of some number that is not of the index; and one write of a segment, when asked
/// to.
class RefusedSync : public FileWatcher {
public:
  explicit RefusedSync(std::size_t number) : number_(number) {}
  std::atomic<bool> refuses_write{false};
  /// Was it refused? And of what was it, then?
  bool happened() const { return seen_ > number_; }
  bool of_tip() const { return of_tip_; }
  bool of_directory() const { return of_directory_; }
  bool of_segment() const { return happened() && !of_tip_ && !of_directory_; }

private:
  Verdict judge(const FileOperation& operation) override {
    if (operation.is(Kind::write) && operation.of_segment() && refuses_write.exchange(false))
      return {std::errc::no_space_on_device};
    if (operation.of_index() ||
        (!operation.is(Kind::sync) && !operation.is(Kind::sync_directory)) || seen_++ != number_)
      return {};
    of_directory_ = operation.is(Kind::sync_directory);
    of_tip_ = operation.of_tip();
    return {std::errc::io_error};
  }

  std::size_t number_;
  std::atomic<std::size_t> seen_ = 0;
  std::atomic<bool> of_tip_ = false;
  std::atomic<bool> of_directory_ = false;
};

/// Refuses an operation on a segment's file once it is told to.
class RefusedOperation : public FileWatcher {
public:
  explicit RefusedOperation(Kind kind) : kind_(kind) {}
  std::atomic<bool> refuses{false};

private:
  Verdict judge(const FileOperation& operation) override {
    if (refuses && operation.is(kind_) && operation.of_segment())
      return {std::errc::io_error};
    return {};
  }
  Kind kind_;
};

/// Lets nobody write files that are read-only, as the system lets nobody but root.
class OrdinaryUser : public FileWatcher {
public:
  std::atomic<int> refused{0};

private:
  std::errc judge_open(const fs::path& path, FileSystem::Mode mode) override {
    const bool writable = (fs::status(path).permissions() & fs::perms::owner_write) != fs::perms{};
    if (mode != FileSystem::Mode::update || writable || !fs::exists(path))
      return {};
    ++refused;
    return std::errc::permission_denied;
  }
};

void write_group(const fs::path& directory, std::uint64_t first, ArchiveOptions options = {}) {
  const auto archive = Archive::open(directory, std::move(options));
  if (!archive)
    FAIL(archive.error());
  (*archive)->append(batch_of(stream_a, first, 10));
  REQUIRE((*archive)->close());
}

} // namespace

TEST_CASE("every_directory_that_is_made_for_an_archive_survives_a_power_cut") {
  for (const std::string name :
       {"archive", "nest/a/archive", "nest/a/archive/", "nest/./a/archive/."}) {
    CAPTURE(name);
    bool killed = true;
    for (std::size_t until = 0; killed; ++until) {
      CAPTURE(until);
      TemporaryDirectory root;
      Life life;
      WatchedFiles files(root.path(), life);
      const ArchiveOptions options{.files = &files.files(), .metadata = files.env()};
      life.until = until;
      killed = !Archive::open(root / name, options);
      life.until = SIZE_MAX;
      write_group(root / name, 0, options);

      SimulatedDisk disk({});
      for (const FileOperation& operation : life.operations)
        disk.apply(operation);
      std::mt19937_64 unused;
      const Survival::Part nothing{Survival::Data::none, Survival::Names::none};
      TemporaryDirectory left;
      disk.after_power_cut({nothing, nothing}, unused).write_to(left.path());
      REQUIRE(fs::is_directory(left / name));
      CHECK(frames_in(left / name).size() == 10);
    }
  }
}

TEST_CASE("archive_rule_08_each_sync_of_segments_or_their_directory_and_no_other_stops_it") {
  std::size_t of_segments = 0;
  std::size_t of_directory = 0;
  std::size_t of_tip = 0;
  bool happened = true;
  for (std::size_t number = 0; happened; ++number) {
    CAPTURE(number);
    TemporaryDirectory root;
    const fs::path directory = root / "archive";
    RefusedSync refusal(number);
    WatchedFiles files(root.path(), refusal);
    std::atomic<int> suspended{0};
    std::atomic<int> resumed{0};
    std::atomic<int> stopped{0};
    const auto opened =
        Archive::open(directory, {.group_delay = 1h,
                                  .segment_bytes = 100,
                                  .retry_interval = 1ms,
                                  .events = {.suspended = [&](const auto&) { ++suspended; },
                                             .resumed = [&] { ++resumed; },
                                             .stopped = [&](const auto&) { ++stopped; }},
                                  .files = &files.files()});
    if (!opened) {
      CHECK(opened.error().kind == ArchiveError::Kind::io);
      continue;
    }
    Archive& archive = **opened;
    const auto store = [&](std::uint64_t first) {
      archive.append(batch_of(stream_a, first, 10, 1, 100));
      return archive.flush().has_value();
    };
    for (std::uint64_t first = 0; first < 30; first += 10)
      store(first);
    if (!archive.trouble()) {
      // What opening does is done once more, and more of it.
      fs::remove(directory / "tip");
      refusal.refuses_write = true;
      CHECK_FALSE(store(30));
      REQUIRE(eventually([&] { return !archive.trouble() || stopped > 0; }));
      store(30);
    }
    REQUIRE(eventually([&] { return !archive.trouble() || stopped > 0; }));
    happened = refusal.happened();
    CHECK(stopped == (refusal.of_segment() || refusal.of_directory() ? 1 : 0));
    if (stopped == 0)
      CHECK(resumed == suspended);
    of_segments += refusal.of_segment();
    of_directory += refusal.of_directory();
    of_tip += refusal.of_tip();
  }
  CHECK(of_segments >= 8); // of headers, groups, seals, and of what recovery writes once more
  CHECK(of_directory >= 4);
  CHECK(of_tip == 1);
}

TEST_CASE("errors_of_a_segment_tell_the_name_that_it_has") {
  for (const Kind kind : {Kind::write, Kind::sync}) {
    TemporaryDirectory directory;
    RefusedOperation refusal(kind);
    WatchedFiles files(directory.path(), refusal);
    const auto archive = Archive::open(
        directory.path(), {.group_delay = 1h, .retry_interval = 1h, .files = &files.files()});
    REQUIRE(archive);
    refusal.refuses = true;
    (*archive)->append(batch_of(stream_a, 0, 10)); // into a segment that was just made
    const auto failed = (*archive)->flush();
    REQUIRE_FALSE(failed);
    const fs::path segment = directory / segment_names(directory.path()).back();
    CHECK_MESSAGE(failed.error().message.find(segment.string() + ": ") != std::string::npos,
                  failed.error());
  }
}

TEST_CASE("who_may_not_write_a_sealed_segment_opens_an_archive_that_ends_with_one") {
  TemporaryDirectory directory;
  TemporaryDirectory further;
  write_group(directory.path(), 0);
  fs::copy(directory.path(), further.path(), fs::copy_options::recursive);
  write_group(further.path(), 10, {.segment_bytes = 100});
  const fs::path segment = directory / segment_names(directory.path()).back();
  OrdinaryUser user;
  WatchedFiles files(directory.path(), user);
  const ArchiveOptions options{.files = &files.files()};
  SUBCASE("it was sealed before everything stopped") {
    fs::copy(further / segment.filename(), segment, fs::copy_options::overwrite_existing);
    fs::permissions(segment, fs::perms(0444));
    const std::string sealed = bytes_of(segment);
    const auto archive = Archive::open(directory.path(), options);
    if (!archive)
      FAIL(archive.error());
    CHECK(user.refused > 0);
    CHECK((*archive)->recovery().holes.empty());
    CHECK((*archive)->append(batch_of(stream_a, 0, 20)).taken == 10);
    CHECK(*(*archive)->close() == Sequence{20});
    CHECK(bytes_of(segment) == sealed);
    CHECK(frames_in(directory.path()).size() == 20);
  }
  SUBCASE("it is not sealed, and goes on") {
    fs::permissions(segment, fs::perms(0444));
    const auto archive = Archive::open(directory.path(), options);
    REQUIRE_FALSE(archive);
    CHECK(archive.error().kind == ArchiveError::Kind::io);
    CHECK(archive.error().message.find(segment.string() + ": ") != std::string::npos);
  }
}
