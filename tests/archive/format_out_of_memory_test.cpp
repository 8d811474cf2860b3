/// Readers of the format when any one allocation fails: that is said as what it is, and no bytes
/// are called malformed, and nothing absent, because of it.

#include <under_tsan.hpp>

#if !DATASTREAM_UNDER_TSAN

#include "golden_archive.hpp"

#include "format/block_index.hpp"
#include "format/descriptors_block.hpp"
#include "format/frames_block.hpp"
#include "format/tip.hpp"
#include "json_line.hpp"
#include "segment_file.hpp"

#include <doctest/doctest.h>

#include <forwarded_files.hpp>
#include <shortage.hpp>
#include <temporary_directory.hpp>

#include <fstream>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <vector>

using namespace datastream;
using namespace datastream::format;
using namespace datastream::test;

namespace {

/// Calls `read` with every single allocation failing in turn, and last with none: it answers as it
/// does when nothing fails, or throws `std::bad_alloc`. At least so many failed.
template <class Read>
void same_or_out_of_memory(Read read, std::size_t at_least) {
  const auto expected = read();
  std::size_t failed = 0;
  for (std::size_t n = 0;; ++n) {
    CAPTURE(n);
    std::optional<decltype(read())> answer;
    {
      const Shortage shortage(n);
      try {
        answer.emplace(read());
      } catch (const std::bad_alloc&) {
      }
    }
    if (answer)
      CHECK(*answer == expected);
    else
      CHECK(Shortage::happened());
    if (!Shortage::happened())
      break;
    failed += !answer;
  }
  CHECK(failed >= at_least);
}

struct Part {
  BlockHeader header;
  std::string head;
  std::string directory;
  BlockPtr stored;
};

/// The blocks of a golden segment.
std::vector<Part> parts_of(const std::string& segment, std::size_t end) {
  std::vector<Part> parts;
  for (std::size_t at = segment_header_bytes; at < end;) {
    Part part;
    part.head = segment.substr(at, block_header_bytes);
    part.header = *decode_block_header(part.head);
    part.directory = segment.substr(at + block_header_bytes, part.header.directory_bytes);
    part.stored = adopt_string(segment.substr(at + block_header_bytes + part.header.directory_bytes,
                                              part.header.stored_bytes));
    at += part.header.size();
    parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<Part> all_parts() {
  const GoldenArchive golden = golden_archive();
  const std::string& sealed = golden.files.at(golden.sealed);
  std::vector<Part> parts = parts_of(sealed, sealed.size() - trailer_bytes);
  for (Part& part : parts_of(golden.files.at(golden.active), golden.durable))
    parts.push_back(std::move(part));
  return parts;
}

/// What became of reading: nothing of it is worth comparing but whether it worked.
template <class T, class E>
std::string outcome(const std::expected<T, E>& result) {
  if (result)
    return "read";
  if constexpr (std::same_as<E, FormatError>)
    return result.error().what;
  else
    return result.error().message;
}

/// A file system whose files cannot be read from some byte on.
class UnreadableFiles : public ForwardedFiles {
public:
  explicit UnreadableFiles(std::uint64_t from) : from_(from) {}

  FileResult<std::unique_ptr<File>> open(const std::filesystem::path& path, Mode mode) override {
    auto file = ForwardedFiles::open(path, mode);
    if (!file)
      return file;
    return std::make_unique<UnreadableFile>(std::move(*file), path, from_);
  }

private:
  class UnreadableFile : public ForwardedFile {
  public:
    UnreadableFile(std::unique_ptr<File> file, std::filesystem::path path, std::uint64_t from)
        : ForwardedFile(std::move(file)), path_(std::move(path)), from_(from) {}
    FileResult<std::size_t> read(std::uint64_t offset, std::span<char> into) override {
      if (offset + into.size() > from_)
        return std::unexpected(FileError{std::make_error_code(std::errc::io_error), "read", path_});
      return ForwardedFile::read(offset, into);
    }

  private:
    std::filesystem::path path_;
    std::uint64_t from_;
  };

  std::uint64_t from_;
};

} // namespace

TEST_CASE("archive_rule_08_no_block_is_called_malformed_for_lack_of_memory") {
  for (const Part& part : all_parts()) {
    CAPTURE(int{static_cast<std::uint8_t>(part.header.kind)});
    same_or_out_of_memory([&] { return outcome(decode_block_header(part.head)); }, 0);
    const bool frames = part.header.kind == BlockKind::frames;
    same_or_out_of_memory([&] { return outcome(decode_directory(part.header, part.directory)); },
                          frames ? 4 : 0);
    same_or_out_of_memory([&] { return outcome(decode_body(part.header, part.stored)); },
                          part.header.compression == Compression::zstd ? 1 : 0);
    const BlockPtr body = *decode_body(part.header, part.stored);
    const BlockDirectory directory = *decode_directory(part.header, part.directory);
    if (frames)
      same_or_out_of_memory([&] { return outcome(decode_frames(part.header, directory, body)); },
                            4);
    else if (part.header.kind == BlockKind::descriptors)
      same_or_out_of_memory([&] { return outcome(decode_descriptors(part.header, body)); }, 3);
    else
      same_or_out_of_memory([&] { return outcome(decode_footer(part.header, body, 471)); }, 4);
  }
}

TEST_CASE("archive_rule_08_what_is_malformed_stays_so_for_lack_of_memory") {
  for (Part part : all_parts()) {
    CAPTURE(int{static_cast<std::uint8_t>(part.header.kind)});
    // Cut short behind its checksum, as a faulty writer would.
    BlockHeader header = part.header;
    const BlockPtr body = *decode_body(part.header, part.stored);
    --header.raw_bytes;
    if (header.kind == BlockKind::frames) {
      const BlockDirectory directory = *decode_directory(part.header, part.directory);
      same_or_out_of_memory([&] { return outcome(decode_frames(header, directory, body)); }, 2);
      part.directory.pop_back();
      same_or_out_of_memory([&] { return outcome(decode_directory(header, part.directory)); }, 2);
    } else if (header.kind == BlockKind::descriptors) {
      same_or_out_of_memory([&] { return outcome(decode_descriptors(header, body)); }, 2);
    } else {
      same_or_out_of_memory([&] { return outcome(decode_footer(header, body, 471)); }, 2);
    }
  }
}

TEST_CASE("what_a_block_has_no_memory_for_is_not_in_it_and_fits_when_there_is_some") {
  const auto stream = std::make_shared<const StreamId>("a node whose name is long", Lifetime{1});
  const auto fill = [&](FramesBlockBuilder& builder, std::uint64_t batch) {
    builder.begin_batch(stream, static_cast<std::int64_t>(batch));
    builder.add({{static_cast<std::uint32_t>(batch)}, {batch}, "a payload of some length", {}});
  };
  Compressor compressor;
  FramesBlockBuilder undisturbed;
  for (std::uint64_t batch = 0; batch < 9; ++batch)
    fill(undisturbed, batch);
  const UnplacedBlock expected = undisturbed.finish(compressor);

  FramesBlockBuilder builder;
  std::size_t failed = 0;
  for (std::uint64_t batch = 0; batch < 9; ++batch)
    for (std::size_t n = 0;; ++n) {
      CAPTURE(batch);
      CAPTURE(n);
      try {
        const Shortage shortage(n);
        fill(builder, batch);
        break;
      } catch (const std::bad_alloc&) {
        ++failed;
        CHECK(builder.frames() == batch);
      }
    }
  CHECK(failed >= 10);
  const UnplacedBlock block = builder.finish(compressor);
  CHECK(block.directory == expected.directory);
  CHECK(block.body == expected.body);
}

TEST_CASE("archive_rule_08_no_line_of_json_is_called_bad_for_lack_of_memory") {
  for (const char* line :
       {R"({"stream":"a node whose name is long#7","channel":"a channel whose name is long",)"
        R"("channel_id":1,"position":0,"payload":"a payload that is longer than a short one"})",
        R"({"stream":"a node whose name is long#7","stream":1})"})
    same_or_out_of_memory(
        [&] {
          const auto parsed = parse_json_line(line);
          return parsed ? "read" : parsed.error();
        },
        4);
}

TEST_CASE("archive_rule_09_no_footer_is_absent_for_lack_of_memory") {
  const GoldenArchive golden = golden_archive();
  const TemporaryDirectory directory;
  const std::string& bytes = golden.files.at(golden.sealed);
  std::ofstream(directory / golden.sealed, std::ios::binary) << bytes;
  same_or_out_of_memory(
      [&] { return outcome(SegmentFile::open(posix_file_system(), directory / golden.sealed)); },
      1);
  const auto segment = SegmentFile::open(posix_file_system(), directory / golden.sealed);
  REQUIRE(segment);
  same_or_out_of_memory(
      [&] {
        const auto footer = segment->read_footer(bytes.size());
        return footer ? (*footer ? (*footer)->entries.size() : 0) : std::size_t{99};
      },
      4);
  same_or_out_of_memory(
      [&] { return outcome(segment->read_entry(segment->begin(), bytes.size())); }, 1);
  const auto entry = segment->read_entry(segment->begin(), bytes.size());
  REQUIRE(entry);
  same_or_out_of_memory([&] { return outcome(segment->read_body(*entry)); }, 2);
}

TEST_CASE("archive_rule_09_no_footer_is_absent_because_it_cannot_be_read") {
  const GoldenArchive golden = golden_archive();
  const TemporaryDirectory directory;
  const std::string& bytes = golden.files.at(golden.sealed);
  std::ofstream(directory / golden.sealed, std::ios::binary) << bytes;
  const std::uint64_t footer = 471;
  for (const std::uint64_t from : {std::uint64_t{segment_header_bytes}, footer + 10,
                                   footer + block_header_bytes + 10, bytes.size() - 1}) {
    CAPTURE(from);
    UnreadableFiles files(from);
    const auto segment = SegmentFile::open(files, directory / golden.sealed);
    REQUIRE(segment);
    const auto sealed = segment->read_footer(bytes.size());
    REQUIRE_FALSE(sealed);
    CHECK(sealed.error().kind == ArchiveError::Kind::io);
  }
  // And a file that is shorter than its trailer was is no sealed one, which is not an error here.
  const auto segment = SegmentFile::open(posix_file_system(), directory / golden.sealed);
  const auto cut = segment->read_footer(bytes.size() - 1);
  REQUIRE(cut);
  CHECK_FALSE(*cut);
}

#endif
