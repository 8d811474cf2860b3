#include "archive_test_support.hpp"
#include "eventually.hpp"
#include "metadata.hpp"

#include <datastream/archive/archive_reader.hpp>

#include <atomic>
#include <sys/mount.h>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

/// A file system in memory of so many bytes; nothing where that is not allowed.
class SmallFileSystem {
public:
  explicit SmallFileSystem(std::size_t bytes) {
    const std::string options = "size=" + std::to_string(bytes);
    mounted_ = ::mount("tmpfs", root_.path().c_str(), "tmpfs", 0, options.c_str()) == 0;
  }
  ~SmallFileSystem() {
    if (mounted_)
      ::umount2(root_.path().c_str(), MNT_DETACH);
  }
  SmallFileSystem(const SmallFileSystem&) = delete;
  SmallFileSystem& operator=(const SmallFileSystem&) = delete;

  bool mounted() const { return mounted_; }
  std::filesystem::path operator/(const char* name) const { return root_ / name; }

private:
  TemporaryDirectory root_;
  bool mounted_ = false;
};

/// One at a position, which a compressor makes no smaller.
FrameBatch frame_at(std::uint64_t position) {
  std::string payload(900, '\0');
  std::uint64_t state = position + 1;
  for (char& byte : payload) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    byte = static_cast<char>(state >> 56U);
  }
  return FrameBatch::copy_of(node_a, std::vector<Frame>{{{1}, {position}, std::move(payload)}});
}

/// Fills the file system, makes room, goes on. Positions are far apart, so that the index, which
/// lies on it as well, takes about as much as the segments.
void fill_and_go_on(const SmallFileSystem& disk) {
  std::ofstream(disk / "filler") << std::string(300'000, 'x');
  std::atomic<int> suspended{0};
  std::atomic<int> resumed{0};
  std::atomic<int> stopped{0};
  auto archive =
      opened(disk / "archive", {.group_delay = 1h,
                                .segment_bytes = 20'000,
                                .retry_interval = 1ms,
                                .events = {.suspended = [&](const auto&) { ++suspended; },
                                           .resumed = [&] { ++resumed; },
                                           .stopped = [&](const auto&) { ++stopped; }}});
  archive->declare(channel_declaration(node_a, 1, "one"));
  std::uint64_t acknowledged = 0;
  const auto send = [&] {
    const auto appended = archive->append(frame_at(acknowledged * positions_per_page));
    const bool durable = archive->flush() && appended.not_stored == 0;
    acknowledged += durable ? 1 : 0;
    CHECK(archive->ledger().balanced());
    return durable;
  };
  while (send())
    REQUIRE(acknowledged < 1000);
  CHECK(acknowledged > 10);
  REQUIRE(eventually([&] { return suspended > 0; }));
  const auto trouble = archive->trouble();
  if (trouble) // for a moment it may believe that there is room
    CHECK_MESSAGE(trouble->kind == ArchiveError::Kind::no_room, *trouble);
  // If only the index lacked room, what came first was stored; what comes now is not.
  CHECK(eventually([&] {
    send();
    return archive->ledger().not_stored.suspended > 0;
  }));
  {
    // What is durable stays readable meanwhile.
    auto reader = ArchiveReader::open(disk / "archive");
    REQUIRE(reader);
    CHECK(reader->last().value >= acknowledged - 1); // the tip of the last one may have failed
    CHECK(reader->verify().empty());
  }

  std::filesystem::remove(disk / "filler");
  const std::uint64_t before = acknowledged;
  REQUIRE(eventually([&] { return send(); }));
  CHECK(resumed > 0);
  CHECK(stopped == 0);
  while (acknowledged < before + 20)
    REQUIRE(send());
  CHECK(archive->ledger().stored == acknowledged);
  CHECK(archive->catalog().find_channel(node_a, ChannelId{1}));
  CHECK(archive->close());
  archive.reset();

  const auto again = opened(disk / "archive");
  CHECK(again->recovery().holes.empty());
  CHECK(again->catalog().find_channel(node_a, ChannelId{1}));
  const auto frames = frames_in(disk / "archive");
  REQUIRE(frames.size() == acknowledged);
  bool right = true;
  for (std::size_t i = 0; i < frames.size(); ++i)
    right = right && frames[i].sequence == i + 1 &&
            frames[i].frame == frame_at(i * positions_per_page)[0].to_frame();
  CHECK(right);
}

} // namespace

TEST_CASE("a_disk_that_is_full_stops_ingest_until_there_is_room_and_resets_nothing") {
  // A few pages more each time, so that it is now a segment, now the index for which there is none.
  for (std::size_t pages = 0; pages < 12; ++pages) {
    CAPTURE(pages);
    const SmallFileSystem disk((160 + pages) * 4096);
    if (!disk.mounted()) {
      MESSAGE("not tested: mounting a file system is not allowed here");
      return;
    }
    fill_and_go_on(disk);
  }
}
