/// Reading while somebody writes.

#include "reader_test_support.hpp"

#include "eventually.hpp"

#include <atomic>
#include <optional>
#include <thread>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

/// What a reader on a thread of its own saw. Looked at once the thread has ended.
struct Follower {
  std::uint64_t frames = 0;
  std::uint64_t wrong = 0; ///< sequences that did not follow the one before
  std::optional<ArchiveError> error;

  /// Up to and with a sequence, or until nothing comes for too long.
  void follow(ArchiveCursor cursor, std::uint64_t first, const std::atomic<std::uint64_t>& last) {
    std::uint64_t expected = first;
    for (;;) {
      const std::uint64_t end = last.load();
      if (end != 0 && expected > end)
        return;
      auto batch = cursor.next(50ms);
      if (!batch) {
        error = std::move(batch.error());
        return;
      }
      if (!*batch)
        continue;
      for (std::size_t i = 0; i < (*batch)->frames.size(); ++i, ++frames) {
        const std::uint64_t sequence = (*batch)->sequence(i).value;
        wrong += sequence == expected ? 0 : 1;
        expected = sequence + 1;
      }
    }
  }
};

} // namespace

TEST_CASE("readers_that_follow_a_writer_at_full_speed_see_every_sequence_once_and_in_order") {
  TemporaryDirectory directory;
  const auto archive =
      opened(directory.path(),
             {.group_bytes = 32U << 10U, .group_delay = 1ms, .segment_bytes = 32U << 10U});
  archive->declare(channel_declaration(node_a, 1, "log"));
  std::atomic<std::uint64_t> last = 0; // 0: not known yet
  constexpr std::size_t readers = 3;
  std::vector<Follower> followers(readers + 1);
  std::vector<std::optional<ArchiveReader>> own(readers);
  std::vector<std::jthread> threads;
  // Each through a reader of its own, but for the last, which shares one with the first.
  for (std::size_t i = 0; i < readers; ++i)
    own[i].emplace(reader_of(directory.path()));
  for (std::size_t i = 0; i <= readers; ++i)
    threads.emplace_back([&, i, cursor = cursor_of(*own[i % readers])]() mutable {
      followers[i].follow(std::move(cursor), 1, last);
    });
  constexpr std::uint64_t count = 400'000;
  std::uint64_t middle = 0;
  Follower late;
  std::jthread late_thread;
  for (std::uint64_t at = 0; at < count; at += 500) {
    archive->append(batch_of(at % 1000 == 0 ? node_a : node_b, at, 500));
    if (at == count / 2) {
      // Somebody comes while it goes on, in the middle.
      own.emplace_back(reader_of(directory.path()));
      middle = std::max<std::uint64_t>(own.back()->last().value, 1);
      late_thread = std::jthread([&, cursor = cursor_of(*own.back(), middle)]() mutable {
        late.follow(std::move(cursor), middle, last);
      });
    }
  }
  REQUIRE(archive->flush() == Sequence{count});
  last = count;
  for (std::jthread& thread : threads)
    thread.join();
  late_thread.join();
  for (const Follower& follower : followers) {
    CHECK_FALSE(follower.error);
    CHECK(follower.wrong == 0);
    CHECK(follower.frames == count);
  }
  CHECK_FALSE(late.error);
  CHECK(late.wrong == 0);
  CHECK(late.frames == count - middle + 1);
  ArchiveReader reader = reader_of(directory.path());
  CHECK(reader.segments().size() > 5);
  CHECK(reader.verify().empty());
}

TEST_CASE("a_cursor_goes_on_when_the_writer_is_closed_and_opened_again") {
  TemporaryDirectory directory;
  std::optional<ArchiveReader> reader;
  std::optional<ArchiveCursor> cursor;
  std::uint64_t expected = 1;
  for (std::uint64_t life = 0; life < 5; ++life) {
    const auto archive = opened(directory.path(), {.segment_bytes = 2U << 10U});
    if (!reader) {
      reader.emplace(reader_of(directory.path()));
      cursor.emplace(cursor_of(*reader));
    }
    for (std::uint64_t i = 0; i < 10; ++i) {
      archive->append(batch_of(node_a, expected - 1, 10));
      REQUIRE(archive->flush());
      CHECK(sequences_of(rest_of(*cursor)) == sequences(expected, expected + 10));
      expected += 10;
    }
  }
}

TEST_CASE("one_reader_gives_cursors_and_streams_to_several_threads") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  for (std::uint64_t segment = 0; segment < 8; ++segment) {
    archive.begin_segment();
    for (std::uint64_t block = 0; block < 20; ++block)
      archive.write_block(node_a, {{{1}, {segment * 40 + block * 2}, "a"},
                                   {{1}, {segment * 40 + block * 2 + 1}, "b"}});
    archive.seal();
  }
  archive.publish();
  ArchiveReader reader = reader_of(directory.path());
  const auto stream = reader.stream(node_a);
  REQUIRE(stream);
  std::vector<std::jthread> threads;
  std::atomic<std::uint64_t> frames = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, cursor = cursor_of(reader)]() mutable {
      while (const auto batch = cursor.next()) {
        if (!*batch)
          break;
        frames += (*batch)->frames.size();
      }
    });
    threads.emplace_back([&] {
      for (const FrameView& frame : stream->frames())
        frames += frame.payload.size();
    });
  }
  for (std::jthread& thread : threads)
    thread.join();
  CHECK(frames == 8 * 320);
}
