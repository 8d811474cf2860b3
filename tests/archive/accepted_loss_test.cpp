/// Archives that lack what they acknowledged: how opening them refuses, and what `reindex` accepts.

#include "archive_test_support.hpp"
#include "simulated_disk.hpp"
#include "watched_files.hpp"

#include <datastream/archive/archive_reader.hpp>
#include <datastream/archive/reindex.hpp>

#include <deque>
#include <random>
#include <unordered_set>

namespace fs = std::filesystem;
using namespace datastream;
using namespace datastream::test;
using Kind = ArchiveError::Kind;

namespace {

void write_group(const fs::path& directory, std::uint64_t first, ArchiveOptions options = {}) {
  const auto archive = opened(directory, std::move(options));
  archive->append(batch_of(node_a, first, 10));
  REQUIRE(archive->close());
}

fs::path last_segment(const fs::path& directory) {
  return directory / segment_names(directory).back();
}

/// Sixty frames in six groups, in lives of their own.
struct SixGroups {
  explicit SixGroups(const fs::path& directory) {
    for (std::uint64_t group = 0; group < 6; ++group) {
      write_group(directory, group * 10);
      segment = last_segment(directory);
      ends.push_back(fs::file_size(segment));
      tips.push_back(bytes_of(directory / "tip"));
    }
  }
  fs::path segment;
  std::vector<std::uint64_t> ends; ///< of the segment, after each group
  std::vector<std::string> tips;   ///< after each group
};

/// Stores a frame that is new, and returns its sequence.
std::uint64_t next_sequence(const fs::path& directory) {
  const auto archive = opened(directory);
  REQUIRE(archive->append(batch_of(node_b, 0, 1)).taken == 1);
  REQUIRE(archive->close());
  return archive->last_durable().value;
}

std::vector<SequenceRange> lost_in(const std::vector<ArchiveError>& errors) {
  std::vector<SequenceRange> lost;
  for (const ArchiveError& error : errors)
    if (error.lost)
      lost.push_back(*error.lost);
  return lost;
}

/// What `verify` says to be lost.
std::vector<SequenceRange> lost_to_readers(const fs::path& directory) {
  auto reader = ArchiveReader::open(directory);
  if (!reader)
    FAIL(reader.error());
  return lost_in(reader->verify());
}

/// The sequences that a reader gives which passes over what is lost.
std::vector<std::uint64_t> readable_in(const fs::path& directory) {
  auto reader = ArchiveReader::open(directory);
  REQUIRE(reader);
  std::vector<std::uint64_t> sequences;
  for (std::uint64_t from = 1;;) {
    auto cursor = reader->read_from({from});
    REQUIRE(cursor);
    auto batch = cursor->next();
    for (; batch && *batch; batch = cursor->next())
      for (std::size_t i = 0; i < (*batch)->frames.size(); ++i)
        sequences.push_back((*batch)->sequence(i).value);
    if (batch)
      return sequences;
    REQUIRE(batch.error().lost);
    REQUIRE(batch.error().lost->last.value >= from);
    from = batch.error().lost->last.value + 1;
  }
}

std::vector<std::uint64_t> all_but(std::uint64_t end, SequenceRange lost) {
  std::vector<std::uint64_t> sequences;
  for (std::uint64_t sequence = 1; sequence < end; ++sequence)
    if (sequence < lost.first.value || sequence > lost.last.value)
      sequences.push_back(sequence);
  return sequences;
}

void cut(const fs::path& file, std::uint64_t size) {
  write_bytes(file, bytes_of(file).substr(0, size));
}

void flip_a_bit(const fs::path& file, std::uint64_t at) {
  std::string bytes = bytes_of(file);
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  write_bytes(file, bytes);
}

void copy_over(const fs::path& from, const fs::path& to) {
  fs::remove(to); // which may be read-only
  fs::copy(from, to, fs::copy_options::recursive);
}

/// Notes what is done.
class Recorder : public FileWatcher {
public:
  std::deque<FileOperation> operations;

private:
  void done(FileOperation operation) override { operations.push_back(std::move(operation)); }
};

} // namespace

TEST_CASE("what_lies_behind_a_damaged_head_is_known_to_be_stored_once_the_loss_was_accepted") {
  const TemporaryDirectory directory;
  const SixGroups groups(directory.path());
  flip_a_bit(groups.segment, groups.ends[1] + 40); // in the head of the third group's first block
  const auto recovery = reindex(directory.path());
  REQUIRE_MESSAGE(recovery, recovery.error().message);
  CHECK(lost_in(recovery->holes) == std::vector{SequenceRange{{21}, {30}}});

  const auto archive = opened(directory.path());
  const Archive::Appended again = archive->append(batch_of(node_a, 0, 60));
  CHECK(again.taken == 10);
  CHECK(again.taken + again.duplicates + again.unverified == 60);
  REQUIRE(archive->close());
  CHECK(readable_in(directory.path()).size() == 60);
}

TEST_CASE("what_only_the_index_knows_to_be_lost_is_a_hole_and_no_sequence_of_it_is_given_out") {
  TemporaryDirectory directory;
  const SixGroups groups(directory.path());
  // A power cut may leave a tip that is older than the index, or none.
  SUBCASE("an older tip") {
    write_bytes(directory / "tip", groups.tips[2]);
  }
  SUBCASE("no tip") {
    fs::remove(directory / "tip");
  }
  const auto size = groups.ends[3] + 20;
  cut(groups.segment, size);
  const auto refused = Archive::open(directory.path());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == Kind::metadata_ahead);
  // Who looks, as the refusal says, finds it.
  const std::vector<SequenceRange> gone = {{{41}, {60}}};
  CHECK(lost_to_readers(directory.path()) == gone);

  const auto report = reindex(directory.path());
  REQUIRE(report);
  CHECK(lost_in(report->holes) == gone);
  CHECK(report->torn_bytes == 0);
  CHECK(fs::file_size(groups.segment) == size);
  CHECK(next_sequence(directory.path()) == 61);
  CHECK(lost_to_readers(directory.path()) == gone);
  CHECK(readable_in(directory.path()) == all_but(62, gone[0]));
}

TEST_CASE("reindex_alone_is_told_by_the_index_what_is_lost") {
  TemporaryDirectory directory;
  const SixGroups groups(directory.path());
  write_bytes(directory / "tip", groups.tips[2]);
  cut(groups.segment, groups.ends[3] + 20);
  const auto report = reindex(directory.path());
  REQUIRE(report);
  CHECK(lost_in(report->holes) == std::vector<SequenceRange>{{{41}, {60}}});
  CHECK(next_sequence(directory.path()) == 61);
}

TEST_CASE("a_damaged_block_whose_loss_is_accepted_costs_what_is_in_it_and_nothing_behind_it") {
  TemporaryDirectory directory;
  const SixGroups groups(directory.path());
  SUBCASE("known to the tip") {}
  SUBCASE("known to the index alone") {
    fs::remove(directory / "tip");
  }
  const std::uint64_t end_of_body = groups.ends[4];
  flip_a_bit(groups.segment, end_of_body - 1);
  const std::string damaged = bytes_of(groups.segment);
  const auto report = reindex(directory.path());
  REQUIRE(report);
  const std::vector<SequenceRange> gone = {{{41}, {50}}};
  CHECK(lost_in(report->holes) == gone);
  CHECK(bytes_of(groups.segment) == damaged);
  {
    const auto archive = opened(directory.path());
    CHECK(archive->append(batch_of(node_a, 50, 10)).unverified == 10); // they are there
    CHECK(archive->append(batch_of(node_a, 40, 10)).taken == 10);
    CHECK(*archive->close() == Sequence{70});
  }
  CHECK(lost_to_readers(directory.path()) == gone);
  CHECK(readable_in(directory.path()) == all_but(71, gone[0]));
}

TEST_CASE("positions_that_were_lost_and_came_again_are_not_missing") {
  TemporaryDirectory directory;
  const SixGroups groups(directory.path());
  flip_a_bit(groups.segment, groups.ends[4] - 1);
  REQUIRE(reindex(directory.path()));
  {
    const auto archive = opened(directory.path());
    CHECK(archive->append(batch_of(node_a, 40, 10)).taken == 10);
    REQUIRE(archive->close());
  }
  auto reader = ArchiveReader::open(directory.path());
  REQUIRE(reader);
  const auto streams = reader->streams();
  REQUIRE(streams);
  REQUIRE(streams->size() == 1);
  CHECK(streams->front().frames == 70); // with those of the damaged block
  CHECK(streams->front().missing() == 0);
}

TEST_CASE("what_was_not_acknowledged_behind_an_accepted_loss_keeps_its_sequences_too") {
  TemporaryDirectory directory;
  const SixGroups groups(directory.path());
  // The sixth group is whole but for its body, and nobody was told of it.
  fs::remove_all(directory / "index");
  write_bytes(directory / "tip", groups.tips[4]);
  flip_a_bit(groups.segment, groups.ends[4] - 1);
  flip_a_bit(groups.segment, groups.ends[5] - 1);
  const auto report = reindex(directory.path());
  REQUIRE(report);
  CHECK(lost_in(report->holes) == std::vector<SequenceRange>{{{41}, {50}}, {{51}, {60}}});
  // A reader finds the heads of both blocks.
  CHECK(next_sequence(directory.path()) == 61);
  CHECK(readable_in(directory.path()) == all_but(62, {{41}, {60}}));
}

TEST_CASE("a_last_segment_that_is_gone_is_a_hole_and_the_one_before_it_stays_as_it_is") {
  TemporaryDirectory directory;
  for (std::uint64_t group = 0; group < 3; ++group)
    write_group(directory.path(), group * 10, {.segment_bytes = 100});
  const auto names = segment_names(directory.path());
  REQUIRE(names.size() == 3);
  fs::remove(directory / names[2]);
  // What looks like a torn end was durable before there was another segment.
  const fs::path before = directory / names[1];
  cut(before, fs::file_size(before) - 1);
  const std::string damaged = bytes_of(before);
  SUBCASE("known to the tip") {
    fs::remove_all(directory / "index");
  }
  SUBCASE("known to the index") {
    fs::remove(directory / "tip");
  }
  const auto report = reindex(directory.path());
  REQUIRE(report);
  CHECK(lost_in(report->holes) == std::vector<SequenceRange>{{{21}, {30}}});
  CHECK(report->torn_bytes == 0);
  CHECK(bytes_of(before) == damaged);
  CHECK(next_sequence(directory.path()) == 31);
  CHECK_FALSE(fs::exists(directory / names[2])); // no name is used twice
}

TEST_CASE("an_archive_of_which_only_the_index_is_left_goes_on_behind_all_that_it_had") {
  TemporaryDirectory directory;
  const SixGroups groups(directory.path());
  fs::remove(directory / "tip");
  fs::remove(groups.segment);
  CHECK(Archive::open(directory.path()).error().kind == Kind::metadata_ahead);
  const auto report = reindex(directory.path());
  REQUIRE(report);
  CHECK(lost_in(report->holes) == std::vector<SequenceRange>{{{1}, {60}}});
  CHECK(next_sequence(directory.path()) == 61);
}

TEST_CASE("the_index_of_another_archive_says_nothing_and_is_replaced") {
  TemporaryDirectory directory;
  TemporaryDirectory other;
  write_group(directory.path(), 0);
  const SixGroups groups(other.path());
  fs::remove_all(directory / "index");
  copy_over(other / "index", directory / "index");
  SUBCASE("with a tip") {}
  SUBCASE("without one") {
    fs::remove(directory / "tip");
  }
  const auto refused = Archive::open(directory.path());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == Kind::damaged);
  CHECK(refused.error().message.find("datastream-archive reindex") != std::string::npos);
  const auto report = reindex(directory.path());
  REQUIRE(report);
  CHECK(report->holes.empty());
  CHECK(next_sequence(directory.path()) == 11);
}

TEST_CASE("a_tip_of_another_archive_costs_no_index") {
  TemporaryDirectory directory;
  TemporaryDirectory other;
  const SixGroups groups(directory.path());
  write_group(other.path(), 0);
  write_bytes(directory / "tip", bytes_of(other / "tip"));
  CHECK(reindex(directory.path()).error().kind == Kind::damaged);
  write_bytes(directory / "tip", groups.tips[2]);
  cut(groups.segment, groups.ends[3]);
  REQUIRE(reindex(directory.path()));
  CHECK(next_sequence(directory.path()) == 61); // which only the index knew
}

TEST_CASE("a_damaged_index_is_made_anew_and_said_to_have_been_damaged") {
  TemporaryDirectory directory;
  const SixGroups groups(directory.path());
  SUBCASE("a file is not what it was") {
    write_bytes(directory / "index" / "CURRENT", "nonsense\n");
  }
  SUBCASE("a file is missing") {
    for (const auto& entry : fs::directory_iterator(directory / "index"))
      if (entry.path().filename().string().starts_with("MANIFEST"))
        fs::remove(entry.path());
  }
  const auto refused = Archive::open(directory.path());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == Kind::damaged);
  CHECK(refused.error().message.find("datastream-archive reindex " + directory.path().string()) !=
        std::string::npos);
  const auto report = reindex(directory.path());
  REQUIRE(report);
  REQUIRE(report->holes.size() == 1);
  CHECK(report->holes[0].message.find((directory / "index").string()) == 0);
  CHECK_FALSE(report->holes[0].lost);
  CHECK(next_sequence(directory.path()) == 61);
}

TEST_CASE("an_index_that_the_system_does_not_let_us_read_is_not_thrown_away") {
  TemporaryDirectory directory;
  const SixGroups groups(directory.path());
  const fs::path index = directory / "index";
  fs::rename(index, directory / "elsewhere");
  std::ofstream(index) << "no directory"; // as root may read everything
  const auto refused = reindex(directory.path());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == Kind::io);
  CHECK(refused.error().message.find("remove " + index.string()) != std::string::npos);
  CHECK(bytes_of(index) == "no directory");
  fs::remove(index);
  CHECK(reindex(directory.path()));
}

TEST_CASE("a_power_cut_while_the_index_is_made_anew_loses_no_word_of_what_is_lost") {
  TemporaryDirectory directory;
  const SixGroups groups(directory.path());
  write_bytes(directory / "tip", groups.tips[2]);
  cut(groups.segment, groups.ends[3] + 20);
  const DiskImage before = DiskImage::of(directory.path());
  Recorder recorder;
  WatchedFiles files(directory.path(), recorder);
  REQUIRE(reindex(directory.path(), {.files = &files.files(), .metadata = files.env()}));

  const Survival::Part all;
  const Survival::Part none{Survival::Data::none, Survival::Names::none};
  SimulatedDisk disk(before);
  std::unordered_set<std::uint64_t> looked_at;
  const auto look = [&](const Survival& survival) {
    std::mt19937_64 random(1);
    const DiskImage image = disk.after_power_cut(survival, random);
    if (!looked_at.insert(image.hash()).second)
      return;
    TemporaryDirectory left;
    image.write_to(left.path());
    if (const auto archive = Archive::open(left.path()); !archive)
      REQUIRE(reindex(left.path()));
    CHECK(next_sequence(left.path()) == 61);
  };
  for (const FileOperation& operation : recorder.operations) {
    CAPTURE(operation.path);
    disk.apply(operation);
    for (const Survival& survival :
         {Survival{all, all}, Survival{none, none}, Survival{none, all}, Survival{all, none}})
      look(survival);
  }
  CHECK(looked_at.size() > 20);
}

TEST_CASE("archive_rule_08_whoever_refuses_names_file_and_offset_and_what_helps") {
  TemporaryDirectory directory;
  write_group(directory.path(), 0);
  const std::uint64_t end = fs::file_size(last_segment(directory.path()));
  const std::string name = segment_names(directory.path()).back();
  // From here on two ways: the segment is sealed, or goes on.
  TemporaryDirectory sealed;
  copy_over(directory.path(), sealed.path());
  write_group(sealed.path(), 10, {.segment_bytes = 100});
  REQUIRE(segment_names(sealed.path()).size() == 2);
  write_group(directory.path(), 10);
  const fs::path segment = directory / name;
  const std::uint64_t durable = fs::file_size(segment);

  std::string place;
  SequenceRange gone{{11}, {20}};
  const auto missing_from = [&](std::uint64_t first, std::uint64_t offset) {
    gone.first = {first};
    place = " at byte " + std::to_string(offset);
  };
  SUBCASE("the segment is too short") {
    cut(segment, end);
    missing_from(11, end);
  }
  SUBCASE("its end is torn") {
    cut(segment, durable - 1);
    missing_from(11, end);
  }
  SUBCASE("its header is damaged") {
    flip_a_bit(segment, 20);
    missing_from(1, 0);
  }
  SUBCASE("it is missing, as the index knows") {
    fs::remove(segment);
    fs::remove(directory / "tip");
    missing_from(1, 0);
  }
  SUBCASE("it is missing, as the tip knows") {
    fs::remove(segment);
    fs::remove_all(directory / "index");
    missing_from(1, 0);
  }
  SUBCASE("it was sealed too early, as the index knows") {
    copy_over(sealed / name, segment);
    missing_from(11, end);
  }
  SUBCASE("it was sealed too early, as the tip knows") {
    copy_over(sealed / name, segment);
    fs::remove_all(directory / "index");
    missing_from(11, durable);
  }
  const auto refused = Archive::open(directory.path());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == Kind::metadata_ahead);
  const std::string& message = refused.error().message;
  CAPTURE(message);
  CHECK(message.starts_with(segment.string() + place + ": "));
  CHECK(message.find("datastream-archive verify " + directory.path().string() + ";") !=
        std::string::npos);
  CHECK(message.ends_with("datastream-archive reindex " + directory.path().string()));
  // Both help.
  CHECK(lost_to_readers(directory.path()) == std::vector<SequenceRange>{gone});
  const auto report = reindex(directory.path());
  REQUIRE(report);
  CHECK(lost_in(report->holes) == std::vector<SequenceRange>{gone});
  CHECK(next_sequence(directory.path()) == 21);
}

TEST_CASE("where_there_is_no_archive_reindex_makes_and_removes_nothing") {
  TemporaryDirectory directory;
  SUBCASE("nothing") {}
  SUBCASE("an index of somebody else's") {
    TemporaryDirectory other;
    write_group(other.path(), 0);
    copy_over(other / "index", directory / "index");
  }
  const DiskImage before = DiskImage::of(directory.path());
  const auto kind_of = [](const fs::path& path) { return reindex(path).error().kind; };
  CHECK(kind_of(directory.path()) == Kind::not_an_archive);
  CHECK(DiskImage::of(directory.path()).entries == before.entries);
  CHECK(kind_of(directory / "none") == Kind::not_an_archive);
  CHECK_FALSE(fs::exists(directory / "none"));
  std::ofstream(directory / "file");
  CHECK(kind_of(directory / "file") == Kind::not_an_archive);
}
