/// A sync that failed, and a kernel that says no word of it the next time.

#include "archive_test_support.hpp"
#include "watched_files.hpp"

#include <datastream/archive/archive.hpp>

#include <temporary_directory.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <set>
#include <utility>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

/// Takes what it could not sync for clean, as Linux does: it is read as if it were there, later
/// syncs leave it out, and it is durable only when it was written once more and synced.
class ForgetfulKernel final : public FileWatcher {
public:
  Verdict judge(const FileOperation& operation) override {
    if (!fails || !operation.is(FileOperation::Kind::sync) || !operation.of_segment())
      return {};
    fails = false;
    lost_.merge(dirty_);
    dirty_.clear();
    return {.error = std::errc::io_error};
  }
  void done(FileOperation operation) override {
    if (!operation.of_segment())
      return;
    if (operation.is(FileOperation::Kind::sync))
      std::erase_if(dirty_, [&](const Byte& byte) { return byte.first == operation.file; });
    if (operation.is(FileOperation::Kind::write))
      for (std::size_t i = 0; i < operation.bytes.size(); ++i) {
        lost_.erase({operation.file, operation.offset + i});
        dirty_.emplace(operation.file, operation.offset + i);
      }
  }
  /// Bytes of segments that a power cut takes.
  std::size_t lost() const { return lost_.size() + dirty_.size(); }

  std::atomic<bool> fails = false;

private:
  using Byte = std::pair<std::uint64_t, std::uint64_t>; // a file, and where in it

  std::set<Byte> dirty_;
  std::set<Byte> lost_;
};

} // namespace

TEST_CASE("what_a_sync_that_failed_has_lost_is_durable_before_an_archive_believes_in_it") {
  TemporaryDirectory root;
  ForgetfulKernel kernel;
  WatchedFiles files(root.path(), kernel);
  const auto open = [&] {
    return opened(root / "archive", {.group_delay = 1h, .files = &files.files()});
  };
  {
    const auto archive = open();
    archive->append(batch_of(node_a, 0, 10, 1, 100));
    REQUIRE(archive->flush());
    kernel.fails = true;
    archive->append(batch_of(node_a, 10, 10, 1, 100));
    const auto refused = archive->flush();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ArchiveError::Kind::stopped);
  }
  REQUIRE(kernel.lost() > 100);
  const auto archive = open();
  CHECK(archive->append(batch_of(node_a, 10, 10, 1, 100)).duplicates == 10); // it is all there
  CHECK(kernel.lost() == 0);
}
