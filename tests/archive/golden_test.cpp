/// The golden files: what was written once stays what is written, and stays readable, here and by a
/// reader in another language.

#include "archive_test_support.hpp"
#include "golden_archive.hpp"

#include "format/descriptors_block.hpp"
#include "format/frames_block.hpp"
#include "format/tip.hpp"
#include "segment_file.hpp"

#include <datastream/archive/archive.hpp>
#include <datastream/archive/archive_reader.hpp>
#include <datastream/pipe/catalog.hpp>

#include <doctest/doctest.h>

#include <finished_program.hpp>
#include <nlohmann/json.hpp>
#include <temporary_directory.hpp>

#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <vector>

using namespace datastream;
using namespace datastream::format;
using namespace datastream::test;
namespace fs = std::filesystem;

namespace {

const fs::path golden_directory = fs::path(DATASTREAM_SOURCE_DIR) / "tests/archive/golden";

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    text += "0123456789abcdef"[static_cast<unsigned char>(byte) >> 4U];
    text += "0123456789abcdef"[static_cast<unsigned char>(byte) & 15U];
  }
  return text;
}

/// The frames of a segment's first bytes, as the reader in Python prints them.
void read_segment(const fs::path& path, std::uint64_t size, Catalog& names,
                  std::vector<nlohmann::json>& out) {
  const auto segment = SegmentFile::open(posix_file_system(), path);
  REQUIRE(segment);
  for (BlockPlace place = segment->begin(); place.offset < size;) {
    auto entry = segment->read_entry(place, size);
    REQUIRE(entry);
    place = behind(*entry);
    if (entry->header.kind == BlockKind::footer)
      break;
    const auto body = segment->read_body(*entry);
    REQUIRE(body);
    if (entry->header.kind == BlockKind::descriptors) {
      const auto descriptors = decode_descriptors(entry->header, *body);
      REQUIRE(descriptors);
      for (const Declaration& declaration : descriptors->declarations)
        if (const auto* channel = std::get_if<ChannelDescriptorPtr>(&declaration))
          names.declare_channel(**channel);
      continue;
    }
    const auto frames = decode_frames(entry->header, entry->directory, *body);
    REQUIRE(frames);
    std::uint64_t sequence = entry->header.first_sequence;
    for (std::size_t i = 0; i < frames->batches.size(); ++i)
      for (const FrameView& frame : frames->batches[i]) {
        const StreamId& stream = frames->batches[i].stream();
        const auto channel = names.find_channel(stream, frame.channel);
        out.push_back({{"arrival", frames->directory.batches[i].arrival},
                       {"channel", frame.channel.value},
                       {"life", stream.life.value},
                       {"name", channel ? nlohmann::json(channel->name) : nlohmann::json()},
                       {"node", stream.node.value},
                       {"payload", hex(frame.payload)},
                       {"position", frame.position.value},
                       {"sequence", sequence++}});
      }
  }
}

/// What a reader in another language said that is lost.
std::vector<SequenceRange> lost_in(const std::string& said) {
  std::vector<SequenceRange> lost;
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    SequenceRange range;
    if (std::string word; words >> word >> range.first.value >> range.last.value && word == "lost")
      lost.push_back(range);
  }
  return lost;
}

/// What our reader says that is lost.
std::vector<SequenceRange> lost_in(const fs::path& directory) {
  auto archive = ArchiveReader::open(directory);
  REQUIRE(archive);
  std::vector<SequenceRange> lost;
  const auto faults = archive->verify();
  CHECK_FALSE(faults.empty());
  for (const ArchiveError& fault : faults)
    if (fault.lost)
      lost.push_back(*fault.lost);
  return lost;
}

std::vector<nlohmann::json> python_reads(const fs::path& directory, FinishedProgram& reader,
                                         const std::string& what = {}) {
  std::vector<std::string> command{PYTHON3, PYTHON_READER, directory.string()};
  if (!what.empty())
    command.push_back(what);
  reader = run_program(command);
  CAPTURE(reader.err);
  std::vector<nlohmann::json> frames;
  std::istringstream lines(reader.out);
  for (std::string line; std::getline(lines, line);)
    frames.push_back(nlohmann::json::parse(line));
  return frames;
}

template <class T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

} // namespace

TEST_CASE("what_is_written_today_are_the_golden_files_byte_for_byte") {
  const GoldenArchive golden = golden_archive();
  CHECK(content(golden_directory / golden.sealed) == golden.files.at(golden.sealed));
  // What zstd makes of a body may change with its version, and with that the tip's offset.
  if (ZSTD_versionNumber() == 1'05'04)
    for (const auto& [name, bytes] : golden.files) {
      CAPTURE(name);
      CHECK(content(golden_directory / name) == bytes);
    }
}

TEST_CASE("the_golden_archive_is_read_alike_in_two_languages") {
  const auto tip = decode_tip(content(golden_directory / "tip"));
  REQUIRE(tip);
  CHECK(tip->segment == 36);
  std::vector<nlohmann::json> frames;
  Catalog names;
  const fs::path sealed = golden_directory / segment_name(1);
  read_segment(sealed, fs::file_size(sealed), names, frames);
  read_segment(golden_directory / segment_name(36), tip->offset, names, frames);
  REQUIRE(frames.size() == 10);
  CHECK(frames.back()["sequence"] == tip->end_sequence - 1);
  CHECK(frames[4]["payload"] == "ff000a");
  CHECK(frames[4]["name"].is_null());
  CHECK(frames[5]["position"] == UINT64_MAX);

  FinishedProgram reader;
  CHECK(python_reads(golden_directory, reader) == frames);
  CHECK(reader.status == 0);
  CHECK(reader.err.empty());
}

TEST_CASE("how_far_streams_reach_is_read_alike_in_two_languages") {
  auto archive = ArchiveReader::open(golden_directory);
  REQUIRE(archive);
  const auto streams = archive->streams();
  REQUIRE(streams);
  std::vector<nlohmann::json> reaches;
  for (const ArchivedStreamInfo& stream : *streams)
    reaches.push_back(
        {{"assigned", or_null(stream.assigned)},
         {"life", stream.stream.life.value},
         {"node", stream.stream.node.value},
         {"from", stream.from ? nlohmann::json(stream.from->value) : nlohmann::json()}});
  REQUIRE(reaches.size() == 3);
  CHECK(reaches[2]["from"] == 2);
  CHECK(reaches[2]["assigned"] == 8);

  FinishedProgram reader;
  CHECK(python_reads(golden_directory, reader, "--reaches") == reaches);
  CHECK(reader.status == 0);
}

TEST_CASE("the_source_that_was_said_last_is_read_alike_in_two_languages") {
  const TemporaryDirectory directory;
  for (const char* source : {"first", "last"}) {
    const auto archive = opened(directory.path(), {.source = source});
    archive->append(batch_of(node_a, archive->last_durable().value, 1));
  }
  for (const auto& [archive, source] :
       {std::pair(golden_directory, "orchestrator"), std::pair(directory.path(), "last")}) {
    auto reader = ArchiveReader::open(archive);
    REQUIRE(reader);
    CHECK(reader->source() == std::string(source));
    FinishedProgram in_python;
    CHECK(python_reads(archive, in_python, "--source") == std::vector<nlohmann::json>{source});
    CHECK(in_python.status == 0);
  }
}

TEST_CASE("an_archive_of_many_segments_is_read_alike_in_two_languages") {
  const TemporaryDirectory directory;
  const StreamId streams[] = {{"node-a", {7}}, {"", {0}}, {"n\u00f6de", {UINT64_MAX}}};
  std::mt19937 random(5);
  const auto archive = opened(directory.path(), {.group_bytes = 2000, .segment_bytes = 5'000});
  for (const StreamId& stream : streams) {
    archive->declare(stream_declaration(stream));
    archive->declare(channel_declaration(stream, 1, "of " + stream.node.value));
  }
  for (std::uint64_t at = 0; at < 3000; at += 30) {
    archive->append(
        batch_of(streams[random() % 3], at, random() % 30 + 1, random() % 3, random() % 200));
    if (random() % 8 == 0)
      REQUIRE(archive->flush());
  }
  const auto last = archive->flush(); // which stays open: its last segment is not sealed
  REQUIRE(last);

  const std::vector<StoredFrame> frames = frames_in(directory.path());
  CHECK(segment_names(directory.path()).size() >= 4);
  REQUIRE(frames.size() == last->value);
  FinishedProgram reader;
  const auto in_python = python_reads(directory.path(), reader);
  CHECK(reader.status == 0);
  CHECK(reader.err.empty());
  REQUIRE(in_python.size() == frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto& [sequence, stream, frame] = frames[i];
    nlohmann::json expected = {{"channel", frame.channel.value},
                               {"life", stream.life.value},
                               {"name", nullptr},
                               {"node", stream.node.value},
                               {"payload", hex(frame.payload)},
                               {"position", frame.position.value},
                               {"sequence", sequence}};
    if (frame.channel == ChannelId{1})
      expected["name"] = "of " + stream.node.value;
    nlohmann::json read = in_python[i];
    read.erase("arrival");
    CHECK(read == expected);
  }
}

TEST_CASE("the_reader_in_another_language_names_what_damage_costs") {
  struct Damage {
    const char* what;
    std::string file;
    std::size_t byte;
    const char* lost;
    std::size_t frames;
  };
  const std::string sealed = segment_name(1);
  const std::string active = segment_name(36);
  const Damage damages[] = {
      {"header", sealed, 20, "lost 1 3:", 7},
      {"names", sealed, 140, "segment 1 at byte 64", 10},
      {"head, with a footer", sealed, 280, "lost 1 3:", 7},
      {"directory, with a footer", sealed, 340, "lost 1 3:", 7},
      {"body", sealed, 410, "lost 1 3:", 7},
      {"footer", sealed, 600, "the footer of segment 1", 10},
      {"head, without a footer", active, 240, "lost 4 7:", 6},
      {"body, without a footer", active, 440, "lost 4 7:", 6},
      {"last body", active, 640, "lost 8 10:", 7},
      {"the later place of the tip", "tip", 50, "the tip at byte 0", 3},
      {"the older place of the tip", "tip", 4096 + 87, "the tip at byte 4096", 10}};
  for (const Damage& damage : damages) {
    CAPTURE(damage.what);
    const TemporaryDirectory directory;
    for (const char* name : {"tip", sealed.c_str(), active.c_str()})
      fs::copy_file(golden_directory / name, directory / name);
    std::string bytes = content(golden_directory / damage.file);
    bytes[damage.byte] ^= 1;
    std::ofstream(directory / damage.file, std::ios::binary) << bytes;
    FinishedProgram reader;
    CHECK(python_reads(directory.path(), reader).size() == damage.frames);
    CHECK(reader.status == 1);
    CHECK(reader.err.find(damage.lost) != std::string::npos);
    CHECK(lost_in(reader.err) == lost_in(directory.path()));
  }
}

TEST_CASE("what_a_flipped_bit_costs_is_said_alike_in_two_languages") {
  const TemporaryDirectory directory;
  {
    auto archive = Archive::open(directory.path(), {.segment_bytes = 5'000});
    REQUIRE(archive);
    for (std::uint32_t channel = 0; channel < 20; ++channel) {
      const StreamId stream{"node", {channel % 2}};
      (*archive)->declare(channel_declaration(stream, channel, "one"));
      (*archive)->append(batch_of(stream, 10 * channel, 1 + channel % 7, channel, 50));
      REQUIRE((*archive)->flush());
    }
  }
  const auto names = segment_names(directory.path());
  REQUIRE(names.size() >= 2);
  const auto first_of = [](const SequenceRange& range) { return range.first; };
  std::mt19937 random(7);
  for (std::size_t i = 0; i < 16; ++i) {
    const fs::path segment = directory / names[i % 2 == 0 ? names.size() - 1 : 0];
    const std::string whole = content(segment);
    std::string bytes = whole;
    const std::size_t byte = random() % bytes.size();
    CAPTURE(segment);
    CAPTURE(byte);
    bytes[byte] ^= static_cast<char>(1U << (random() % 8));
    if (i % 4 >= 2) // and the footer, if there is one
      bytes.back() ^= 1;
    write_bytes(segment, bytes);
    FinishedProgram reader;
    const auto frames = python_reads(directory.path(), reader);
    CHECK(reader.status == 1);
    auto in_python = lost_in(reader.err);
    auto lost = lost_in(directory.path());
    std::ranges::sort(in_python, {}, first_of);
    std::ranges::sort(lost, {}, first_of);
    CHECK(in_python == lost);
    std::uint64_t count = frames.size();
    for (const SequenceRange& range : lost)
      count += range.count();
    CHECK(count == ArchiveReader::open(directory.path())->last().value);
    write_bytes(segment, whole);
  }
}

TEST_CASE("a_cursor_behind_a_hole_at_the_end_waits_there_for_more") {
  for (const bool all : {false, true}) {
    CAPTURE(all);
    const TemporaryDirectory directory;
    fs::copy_file(golden_directory / "tip", directory / "tip");
    if (!all)
      fs::copy_file(golden_directory / segment_name(1), directory / segment_name(1));
    auto archive = ArchiveReader::open(directory.path());
    REQUIRE(archive);
    auto cursor = archive->read_from({all ? 1U : 4U});
    REQUIRE(cursor);
    auto hole = cursor->next();
    while (hole && *hole && (*hole)->frames.empty()) // declarations come first
      hole = cursor->next();
    REQUIRE_FALSE(hole);
    REQUIRE(hole.error().lost);
    CHECK(*hole.error().lost == SequenceRange{{all ? 1U : 4U}, {10}});
    cursor = archive->read_from({11});
    REQUIRE(cursor);
    auto more = cursor->next();
    while (more && *more && (*more)->frames.empty())
      more = cursor->next();
    REQUIRE(more);
    CHECK_FALSE(*more);
  }
}

TEST_CASE("the_reader_in_another_language_names_a_segment_that_is_gone_or_cut") {
  for (const bool cut : {false, true}) {
    CAPTURE(cut);
    const TemporaryDirectory directory;
    for (const std::string& name : {std::string("tip"), segment_name(1), segment_name(36)})
      fs::copy_file(golden_directory / name, directory / name);
    if (cut)
      fs::resize_file(directory / segment_name(36), 300);
    else
      fs::remove(directory / segment_name(1));
    FinishedProgram reader;
    CHECK(python_reads(directory.path(), reader).size() == (cut ? 3 : 7));
    CHECK(reader.status == 1);
    CHECK(reader.err.find(cut ? "lost 4 10:" : "lost 1 3:") != std::string::npos);
    CHECK(lost_in(reader.err) == lost_in(directory.path()));
  }
}
