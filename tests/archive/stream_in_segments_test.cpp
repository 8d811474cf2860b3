/// Streams of an archive that lie in many segments: what of them is held in memory, and what
/// becomes of segments that change behind an opened stream.

#include "reader_test_support.hpp"

#include "heap_bytes.hpp"
#include "process_usage.hpp"

#include <datastream/defaults.hpp>

#include <rapidcheck.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <ranges>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace datastream;
using namespace datastream::test;

namespace {

/// A walk up to the first error, if there is one.
struct Walked {
  std::vector<Frame> frames;
  std::optional<ArchiveError> error;
};
Walked walked(const ArchivedStream& stream) {
  Walked result;
  try {
    for (const FrameView& frame : stream.frames())
      result.frames.push_back(frame.to_frame());
  } catch (const ArchiveReadFailed& failed) {
    result.error = failed.error();
  }
  return result;
}

/// What a stream must show: of each position the frame that was stored first.
class Model {
public:
  void store(const std::vector<Frame>& frames) {
    for (const Frame& frame : frames)
      frames_.emplace(frame.position.value, frame);
    stored_ += frames.size();
  }

  std::uint64_t stored() const { return stored_; }
  std::uint64_t lowest() const { return frames_.begin()->first; }
  std::uint64_t highest() const { return frames_.rbegin()->first; }
  std::vector<Frame> from(std::uint64_t lowest) const { return between(lowest, highest()); }
  std::vector<Frame> between(std::uint64_t lowest, std::uint64_t highest) const {
    std::vector<Frame> result;
    for (auto at = frames_.lower_bound(lowest); at != frames_.end() && at->first <= highest; ++at)
      result.push_back(at->second);
    return result;
  }
  std::vector<Frame> last(std::size_t count) const {
    std::vector<Frame> result = from(0);
    result.erase(result.begin(),
                 result.end() - static_cast<std::ptrdiff_t>(std::min(count, result.size())));
    return result;
  }
  std::optional<Frame> at(std::uint64_t position) const {
    const auto found = frames_.find(position);
    return found == frames_.end() ? std::nullopt : std::optional(found->second);
  }

private:
  std::map<std::uint64_t, Frame> frames_;
  std::uint64_t stored_ = 0;
};

enum class Order { ascending, stragglers, shuffled, twice };

std::vector<std::uint64_t> random_positions(std::mt19937& random, Order order) {
  std::vector<std::uint64_t> positions;
  for (std::uint64_t position = random() % 3; positions.size() < 200;
       position += random() % 8 == 0 ? 1 + random() % 50 : 1)
    positions.push_back(position);
  if (order == Order::shuffled)
    std::ranges::shuffle(positions, random);
  for (int i = 0; order == Order::stragglers && i < 10; ++i) {
    // Far behind those with which it belongs.
    const auto from = static_cast<std::ptrdiff_t>(random() % positions.size());
    const auto to = from + static_cast<std::ptrdiff_t>(random() % (positions.size() - from));
    std::rotate(positions.begin() + from, positions.begin() + from + 1, positions.begin() + to);
  }
  for (int i = 0; order == Order::twice && i < 60; ++i)
    positions.insert(positions.begin() + static_cast<std::ptrdiff_t>(random() % positions.size()),
                     positions[random() % positions.size()]);
  return positions;
}

/// A stream in many small segments, beside another one.
Model fill(const std::filesystem::path& directory, std::mt19937& random, Order order) {
  const std::vector<std::uint64_t> positions = random_positions(random, order);
  const std::size_t segment_frames = 5 + random() % 30;
  Model model;
  HandMadeArchive archive(directory);
  archive.begin_segment();
  std::size_t in_segment = 0;
  for (std::size_t at = 0; at < positions.size();) {
    std::vector<Frame> frames;
    for (std::uint64_t i = 0; i < 1 + random() % 4 && at < positions.size(); ++i, ++at)
      frames.push_back({{1}, {positions[at]}, "frame " + std::to_string(at)});
    archive.add(node_a, frames);
    model.store(frames);
    if (random() % 4 == 0)
      archive.add(node_b, {{{1}, {at}, "other"}});
    archive.write_block();
    in_segment += frames.size();
    if (in_segment >= segment_frames && at < positions.size()) {
      archive.seal();
      archive.begin_segment();
      in_segment = 0;
      if (random() % 8 == 0) { // nothing of it here
        archive.write_block(node_b, {{{1}, {1000 + at}, "other"}});
        archive.seal();
        archive.begin_segment();
      }
    }
  }
  archive.publish();
  return model;
}

/// A sealed segment behind whose index a reader keeps no other one.
void write_segment_with_huge_index(HandMadeArchive& archive) {
  archive.begin_segment();
  constexpr std::size_t name_bytes = 1'000'000;
  constexpr std::size_t thrice = 3; // what an index takes for each byte of the file
  for (std::size_t bytes = 0; bytes <= defaults::archive_reader_index_bytes;) {
    for (char name = 'a'; name < 'h'; ++name, bytes += thrice * name_bytes)
      archive.add({std::string(name_bytes, name), {1}}, {{{1}, {bytes}, ""}});
    archive.write_block();
  }
  archive.seal();
}

/// Ten segments of ten blocks of two frames, then the huge index: positions ascend by one.
class TenSegments {
public:
  static constexpr std::uint64_t segments = 10;
  static constexpr std::uint64_t blocks = 10;
  static constexpr std::uint64_t frames = segments * blocks * 2;

  TenSegments() : archive_(directory_.path()) {
    for (std::uint64_t segment = 0; segment < segments; ++segment) {
      archive_.begin_segment();
      files_.push_back(archive_.segment());
      for (std::uint64_t block = 0; block < blocks; ++block, positions_ += 2)
        archive_.write_block(node_a, frames_between(positions_, positions_ + 2));
      archive_.seal();
    }
    write_segment_with_huge_index(archive_);
    archive_.publish();
    reader_.emplace(reader_of(directory_.path()));
  }

  static Frame frame(std::uint64_t position) {
    return {{1}, {position}, "frame " + std::to_string(position)};
  }
  static std::vector<Frame> frames_between(std::uint64_t first, std::uint64_t end) {
    std::vector<Frame> result;
    for (; first < end; ++first)
      result.push_back(frame(first));
    return result;
  }

  const std::filesystem::path& file(std::size_t segment) const { return files_[segment]; }
  const BlockSite& block(std::size_t segment, std::size_t block) const {
    return archive_.blocks()[segment * blocks + block];
  }
  SequenceRange sequences_of(std::size_t segment) const {
    return {{block(segment, 0).first}, {block(segment, blocks - 1).end - 1}};
  }
  ArchiveReader& reader() { return *reader_; }
  /// Every index is read again when it is needed again.
  void forget_indexes() { (void)reader_->segments(); }

private:
  TemporaryDirectory directory_;
  HandMadeArchive archive_;
  std::vector<std::filesystem::path> files_;
  std::uint64_t positions_ = 0;
  std::optional<ArchiveReader> reader_;
};

/// Memory of a stream of blocks of one frame.
struct Memory {
  std::size_t opened = 0;
  std::size_t walked = 0; ///< at most, while its frames were read in order
  std::size_t after = 0;
};
Memory memory_of_stream(std::uint64_t segments, std::uint64_t blocks_in_segment) {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  std::uint64_t position = 0;
  for (std::uint64_t segment = 0; segment < segments; ++segment) {
    archive.begin_segment();
    for (std::uint64_t block = 0; block < blocks_in_segment; ++block, ++position)
      archive.write_block(node_a, {{{1}, {position}, "x"}});
    archive.seal();
  }
  archive.publish();
  ArchiveReader reader = reader_of(directory.path());
  (void)stream_in(reader); // what the reader keeps is its own
  Memory memory;
  const std::size_t before = heap_bytes();
  const ArchivedStream stream = stream_in(reader);
  memory.opened = heap_bytes() - before;
  std::uint64_t seen = 0;
  for (const FrameView& frame : stream.frames()) {
    CHECK(frame.position.value == seen);
    if (seen++ % 100 == 0)
      memory.walked = std::max(memory.walked, heap_bytes() - before);
  }
  CHECK(seen == position);
  memory.after = heap_bytes() - before;
  return memory;
}

} // namespace

TEST_CASE("a_stream_in_many_segments_equals_a_map_of_its_frames") {
  rc::check("a stream in many segments equals a map", [](unsigned seed) {
    std::mt19937 random(seed);
    TemporaryDirectory directory;
    const Model model = fill(directory.path(), random, static_cast<Order>(seed % 4));
    ArchiveReader reader = reader_of(directory.path());
    const ArchivedStream stream = stream_in(reader);
    RC_ASSERT(stream.size() == model.stored());
    RC_ASSERT(stream.first() == Position{model.lowest()});
    RC_ASSERT(stream.last() == Position{model.highest()});
    RC_ASSERT(copied(stream.frames()) == model.from(0));
    for (int i = 0; i < 5; ++i) {
      const std::uint64_t from = random() % (model.highest() + 3);
      const std::uint64_t to = from + random() % 50;
      for (std::uint64_t position = from; position < from + 5; ++position) {
        const auto frame = stream.at({position});
        RC_ASSERT(frame.has_value());
        RC_ASSERT(*frame == model.at(position));
      }
      RC_ASSERT(copied(stream.frames_from({from})) == model.from(from));
      RC_ASSERT(copied(stream.load({from}, {to})->frames()) == model.between(from, to));
      const std::size_t count = random() % 250;
      RC_ASSERT(copied(stream.load_last(count)->frames()) == model.last(count));
    }
  });
}

TEST_CASE("an_opened_stream_and_a_walk_hold_no_more_when_there_are_more_blocks_in_the_archive") {
  if (!memory_is_ours)
    return;
  constexpr std::uint64_t blocks = 2000;
  constexpr std::size_t list = blocks * 48;
  const Memory few_blocks = memory_of_stream(10, 20);
  const Memory some = memory_of_stream(10, blocks);
  const Memory many_segments = memory_of_stream(20, blocks);
  // Growth by doubling, and what an allocator adds.
  constexpr std::size_t for_segment = 256;
  CHECK(few_blocks.opened < 10 * for_segment);
  CHECK(some.opened < 10 * for_segment);
  CHECK(many_segments.opened < 20 * for_segment);
  CHECK(some.walked >= list);
  CHECK(some.walked < 3 * list);
  CHECK(many_segments.walked < 3 * list);
  CHECK(some.after < 10 * for_segment);
  CHECK(many_segments.after < 20 * for_segment);
}

TEST_CASE("a_walk_over_stragglers_in_every_segment_lets_go_of_them_all_the_same") {
  if (!memory_is_ours)
    return;
  // Each segment begins with a frame of long ago, so that a walk meets them all at once.
  constexpr std::uint64_t segments = 20;
  constexpr std::uint64_t blocks = 200;
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  std::uint64_t position = segments;
  for (std::uint64_t segment = 0; segment < segments; ++segment) {
    archive.begin_segment();
    archive.write_block(node_a, {{{1}, {segment}, "straggler"}});
    for (std::uint64_t block = 0; block < blocks; ++block, ++position)
      archive.write_block(node_a, {{{1}, {position}, "live"}});
    archive.seal();
  }
  archive.publish();
  ArchiveReader reader = reader_of(directory.path());
  const ArchivedStream stream = stream_in(reader);
  std::uint64_t seen = 0;
  const std::size_t before = heap_bytes();
  for (const FrameView& frame : stream.frames()) {
    CHECK(frame.position.value == seen);
    CHECK(frame.payload == (seen < segments ? "straggler" : "live"));
    ++seen;
  }
  CHECK(seen == position);
  CHECK(heap_bytes() - before < 8U << 10U);
  CHECK(stream.load_last(300)->size() == 300);
  CHECK(stream.load_last(300)->first() == Position{position - 300});
}

TEST_CASE("an_index_that_was_forgotten_is_read_again_when_a_walk_gets_there") {
  TenSegments archive;
  const ArchivedStream stream = stream_in(archive.reader());
  archive.forget_indexes();
  const auto all = TenSegments::frames_between(0, TenSegments::frames);
  CHECK(copied(stream.frames()) == all);
  // One whose footer is damaged has the same blocks.
  archive.forget_indexes();
  std::string bytes = bytes_of(archive.file(3));
  bytes[bytes.size() - format::trailer_bytes - 1] ^= 1;
  write_bytes(archive.file(3), bytes);
  CHECK(copied(stream.frames()) == all);
  CHECK(*stream.at({65}) == TenSegments::frame(65));
}

TEST_CASE("a_segment_that_is_removed_behind_an_opened_stream_is_an_error") {
  TenSegments archive;
  const ArchivedStream stream = stream_in(archive.reader());
  archive.forget_indexes();
  std::filesystem::remove(archive.file(4));

  const Walked walk = walked(stream);
  CHECK(walk.frames == TenSegments::frames_between(0, 80));
  REQUIRE(walk.error);
  CHECK(walk.error->kind == ArchiveError::Kind::missing);
  CHECK(walk.error->lost == archive.sequences_of(4));
  CHECK(stream.at({90}).error().lost == archive.sequences_of(4));
  CHECK(stream.load({70}, {100}).error().lost == archive.sequences_of(4));
  CHECK(stream.load_last(110).error().lost == archive.sequences_of(4));
  CHECK(*stream.at({79}) == TenSegments::frame(79));
  CHECK(*stream.at({100}) == TenSegments::frame(100));
  CHECK(stream.load({100}, {120})->size() == 21);
  CHECK(stream.load_last(100)->size() == 100);

  const ArchivedStream rest = stream.without(*walk.error->lost);
  CHECK(rest.size() == 180);
  auto expected = TenSegments::frames_between(0, 80);
  for (Frame& frame : TenSegments::frames_between(100, 200))
    expected.push_back(std::move(frame));
  CHECK(copied(rest.frames()) == expected);
  CHECK(*rest.at({90}) == std::nullopt);
}

TEST_CASE("a_segment_that_has_other_blocks_than_when_the_stream_was_opened_is_an_error") {
  TenSegments archive;
  const ArchivedStream stream = stream_in(archive.reader());
  std::string bytes = bytes_of(archive.file(4));
  SUBCASE("fewer") {
    bytes.resize(archive.block(4, 5).offset);
  }
  SUBCASE("one whose header is damaged, as the footer is") {
    bytes[archive.block(4, 5).offset + 9] ^= 1;
    bytes[bytes.size() - format::trailer_bytes - 1] ^= 1;
  }
  SUBCASE("as many others") {
    TemporaryDirectory elsewhere;
    HandMadeArchive other(elsewhere.path());
    other.lose(4 * TenSegments::blocks * 2);
    other.begin_segment(4);
    for (std::uint64_t position = 80; position < 100; position += 2)
      other.write_block(node_a, {{{1}, {position}, "another"}, {{1}, {position + 1}, "frame"}});
    other.seal();
    CHECK(other.segment().filename() == archive.file(4).filename());
    bytes = bytes_of(other.segment());
  }
  archive.forget_indexes();
  write_bytes(archive.file(4), bytes);

  const Walked walk = walked(stream);
  CHECK(walk.frames == TenSegments::frames_between(0, 80));
  REQUIRE(walk.error);
  CHECK(walk.error->kind == ArchiveError::Kind::damaged);
  CHECK(walk.error->message.contains(archive.file(4).string()));
  CHECK(walk.error->lost == archive.sequences_of(4));
  CHECK(stream.at({80}).error().lost == archive.sequences_of(4));
  CHECK(copied(stream.without(*walk.error->lost).frames_from({70})).size() == 110);
}

TEST_CASE("what_is_left_out_of_a_stream_is_every_block_that_has_a_lost_sequence") {
  TenSegments archive;
  const ArchivedStream stream = stream_in(archive.reader());
  const auto sequence = [&](std::size_t segment, std::size_t block) {
    return Sequence{archive.block(segment, block).first};
  };
  // From the last frame of a block to the first one of another, three segments on.
  const ArchivedStream middle = stream.without({{sequence(2, 4).value + 1}, sequence(5, 7)});
  auto expected = TenSegments::frames_between(0, 48);
  for (Frame& frame : TenSegments::frames_between(116, 200))
    expected.push_back(std::move(frame));
  CHECK(middle.size() == expected.size());
  CHECK(copied(middle.frames()) == expected);
  CHECK(middle.first() == Position{0});
  CHECK(middle.last() == Position{199});

  const ArchivedStream begin = middle.without({{0}, sequence(0, 0)});
  CHECK(begin.first() == Position{2});
  const ArchivedStream end = begin.without({sequence(9, 9), sequence(9, 9)});
  CHECK(end.last() == Position{197});
  CHECK(end.size() == expected.size() - 4);
  archive.forget_indexes(); // and are left out again
  expected.erase(expected.begin(), expected.begin() + 2);
  expected.resize(expected.size() - 2);
  CHECK(copied(end.frames()) == expected);
  CHECK(copied(end.load_last(5)->frames()) == TenSegments::frames_between(193, 198));

  const ArchivedStream nothing = stream.without({{0}, {archive.reader().last()}});
  CHECK(nothing.empty());
  CHECK_FALSE(nothing.first());
  CHECK_FALSE(nothing.last());
  CHECK(copied(nothing.frames()).empty());
  CHECK(nothing.load_last(3)->empty());
}

TEST_CASE("a_loss_in_a_segment_that_cannot_be_read_either_stays_an_error") {
  TenSegments archive;
  const ArchivedStream stream = stream_in(archive.reader());
  archive.forget_indexes();
  const std::filesystem::path elsewhere = archive.file(4).string() + ".away";
  std::filesystem::rename(archive.file(4), elsewhere);
  const BlockSite& block = archive.block(4, 5);
  const ArchivedStream rest = stream.without({{block.first}, {block.first}});
  CHECK(rest.size() == TenSegments::frames);
  CHECK(walked(rest).error->lost == archive.sequences_of(4));
  // It is back: the loss counts.
  std::filesystem::rename(elsewhere, archive.file(4));
  CHECK(copied(rest.frames()).size() == TenSegments::frames - 2);
  CHECK(*rest.at({90}) == std::nullopt);
  CHECK(*rest.at({92}) == TenSegments::frame(92));
}

TEST_CASE("a_stream_shows_nothing_that_came_after_it_was_opened_though_the_index_has_it") {
  TemporaryDirectory directory;
  HandMadeArchive archive(directory.path());
  archive.begin_segment();
  archive.write_block(node_a, {TenSegments::frame(5), TenSegments::frame(6)});
  archive.publish();
  ArchiveReader reader = reader_of(directory.path());
  const ArchivedStream stream = stream_in(reader);
  archive.write_block(node_a, {TenSegments::frame(4), TenSegments::frame(7)});
  archive.publish();
  CHECK(*reader.refresh());
  CHECK(stream_in(reader).size() == 4);
  const auto before = TenSegments::frames_between(5, 7);
  CHECK(copied(stream.frames()) == before);
  archive.seal();
  write_segment_with_huge_index(archive);
  archive.publish();
  CHECK(*reader.refresh());
  (void)reader.segments(); // the index is read again
  CHECK(copied(stream.frames()) == before);
  CHECK(*stream.at({7}) == std::nullopt);
  CHECK(copied(stream.load_last(3)->frames()) == before);
  CHECK(copied(stream_in(reader).frames()) == TenSegments::frames_between(4, 8));
}

TEST_CASE("what_a_writer_stored_in_small_segments_is_read_while_it_goes_on") {
  TemporaryDirectory directory;
  const auto archive = opened(directory.path(), {.segment_bytes = 1024});
  std::uint64_t end = 0;
  const auto store = [&] {
    for (int batch = 0; batch < 20; ++batch, end += 10) {
      archive->append(batch_of(node_a, end, 10));
      REQUIRE(archive->flush());
    }
    CHECK(archive->append(batch_of(node_a, end - 200, 10)).duplicates == 10);
  };
  store();
  ArchiveReader reader = reader_of(directory.path());
  const ArchivedStream stream = stream_in(reader);
  const auto before = copied(stream.frames());
  CHECK(stream.size() == 200);
  CHECK(before == copied(batch_of(node_a, 0, 200)));
  store();
  CHECK(*reader.refresh());
  CHECK(segment_names(directory.path()).size() > 5);
  CHECK(copied(stream.frames()) == before);
  CHECK(copied(stream_in(reader).frames()) == copied(batch_of(node_a, 0, 400)));
}

TEST_CASE("threads_that_read_one_stream_see_the_same") {
  TenSegments archive;
  const ArchivedStream stream = stream_in(archive.reader());
  archive.forget_indexes();
  const auto expected = TenSegments::frames_between(0, TenSegments::frames);
  std::vector<int> right(4);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < right.size(); ++i)
      threads.emplace_back([&, i] {
        for (std::uint64_t position = i; position < TenSegments::frames; position += 7) {
          const auto frame = stream.at({position});
          right[i] += frame && *frame == expected[position] ? 0 : 1000;
        }
        for (int walk = 0; walk < 3; ++walk)
          right[i] += copied(stream.frames()) == expected ? 1 : 1000;
      });
  }
  CHECK(right == std::vector<int>{3, 3, 3, 3});
}
