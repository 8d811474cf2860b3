#pragma once
/// Reading archives in tests, with an eye on the files.

#include "archive_test_support.hpp"
#include "hand_made_archive.hpp"

#include <datastream/archive/archive_cursor.hpp>
#include <datastream/archive/archive_reader.hpp>
#include <datastream/archive/file_system.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace datastream::test {

inline ArchiveReader reader_of(const std::filesystem::path& directory,
                               FileSystem* files = nullptr) {
  auto reader = ArchiveReader::open(directory, files);
  if (!reader)
    FAIL(reader.error());
  return std::move(*reader);
}

inline ArchiveCursor cursor_of(ArchiveReader& reader, std::uint64_t from = 0,
                               ReadFilter filter = {}) {
  auto cursor = reader.read_from({from}, std::move(filter));
  if (!cursor)
    FAIL(cursor.error());
  return std::move(*cursor);
}

inline ArchivedStream stream_in(ArchiveReader& reader, const StreamId& id = node_a) {
  auto stream = reader.stream(id);
  if (!stream)
    FAIL(stream.error());
  return std::move(*stream);
}

/// The frames of a stream or a view, as values.
template <class Range>
std::vector<Frame> copied(Range&& range) {
  std::vector<Frame> frames;
  for (const FrameView& frame : range)
    frames.push_back(frame.to_frame());
  return frames;
}

inline void append_frames(const ArchivedBatch& batch, std::vector<StoredFrame>& frames) {
  for (std::size_t i = 0; i < batch.frames.size(); ++i)
    frames.push_back({batch.sequence(i).value, batch.frames.stream(), batch.frames[i].to_frame()});
}

/// Everything that a cursor gives now, without an error.
inline std::vector<StoredFrame> rest_of(ArchiveCursor& cursor) {
  std::vector<StoredFrame> frames;
  for (;;) {
    const auto batch = cursor.next();
    if (!batch)
      FAIL(batch.error());
    if (!*batch)
      return frames;
    append_frames(**batch, frames);
  }
}

inline std::vector<StoredFrame> all_of(ArchiveReader& reader) {
  ArchiveCursor cursor = cursor_of(reader);
  return rest_of(cursor);
}

/// Blocks of one frame each, in the segment that is being written.
inline std::vector<BlockSite> write_single_frames(HandMadeArchive& archive, std::uint64_t count,
                                                  const std::string& payload = "payload") {
  std::vector<BlockSite> blocks;
  for (std::uint64_t i = 0; i < count; ++i)
    blocks.push_back(archive.write_block(node_a, {{{1}, {archive.next_sequence()}, payload}}));
  return blocks;
}

/// What can be read of a damaged archive, and why the rest cannot.
struct Salvage {
  std::vector<StoredFrame> frames;
  std::vector<ArchiveError> errors;

  /// What the errors name, which must be ascending and apart.
  std::vector<SequenceRange> lost_ranges() const {
    std::vector<SequenceRange> ranges;
    for (const ArchiveError& error : errors)
      if (error.lost)
        ranges.push_back(*error.lost);
    return ranges;
  }
  /// The same, each sequence of it.
  std::vector<std::uint64_t> lost() const {
    std::vector<std::uint64_t> sequences;
    for (const SequenceRange& range : lost_ranges())
      for (auto s = range.first.value; s <= range.last.value; ++s)
        sequences.push_back(s);
    return sequences;
  }
};

inline Salvage salvage(ArchiveReader& reader) {
  Salvage result;
  ArchiveCursor cursor = cursor_of(reader);
  while (result.errors.size() < 100) {
    const auto batch = cursor.next();
    if (batch && !*batch)
      return result;
    if (batch) {
      append_frames(**batch, result.frames);
      continue;
    }
    result.errors.push_back(batch.error());
    if (batch.error().lost) {
      CHECK(cursor.position() >= batch.error().lost->first);
      CHECK(cursor.position() <= batch.error().lost->last);
      cursor = cursor_of(reader, batch.error().lost->last.value + 1);
    }
  }
  FAIL("the cursor does not get on");
  return result;
}

/// Those that are not lost, in order.
inline std::vector<StoredFrame> without(const std::vector<StoredFrame>& frames,
                                        const std::vector<std::uint64_t>& lost) {
  std::vector<StoredFrame> rest;
  for (const StoredFrame& frame : frames)
    if (!std::ranges::binary_search(lost, frame.sequence))
      rest.push_back(frame);
  return rest;
}

inline std::vector<std::uint64_t> sequences_of(const std::vector<StoredFrame>& frames) {
  std::vector<std::uint64_t> sequences;
  for (const StoredFrame& frame : frames)
    sequences.push_back(frame.sequence);
  return sequences;
}

/// `first` to before `end`.
inline std::vector<std::uint64_t> sequences(std::uint64_t first, std::uint64_t end) {
  std::vector<std::uint64_t> result;
  for (; first < end; ++first)
    result.push_back(first);
  return result;
}

/// The files of the system, counted; and one read or opening of which fails.
class CountedFiles : public FileSystem {
public:
  struct Counts {
    std::uint64_t operations = 0; ///< that may fail: opening, reading, asking for size or names
    std::uint64_t segment_reads = 0;
    std::uint64_t segment_bytes = 0;
  };
  Counts counts() const { return counts_; }
  /// The operation after the next `n` ones fails.
  void fail_after(std::uint64_t n) { fails_at_ = counts_.operations + n; }
  void fail_no_more() { fails_at_ = std::numeric_limits<std::uint64_t>::max(); }

  FileResult<std::unique_ptr<File>> open(const std::filesystem::path& path, Mode mode) override {
    if (fails())
      return failed("open", path);
    auto file = posix_file_system().open(path, mode);
    if (!file)
      return file;
    return std::make_unique<CountedFile>(*this, path, std::move(*file));
  }
  FileResult<std::vector<std::string>> list(const std::filesystem::path& directory) override {
    if (fails())
      return failed("list", directory);
    return posix_file_system().list(directory);
  }

  // A reader does none of these.
  FileResult<void> rename(const std::filesystem::path& from,
                          const std::filesystem::path&) override {
    return failed("rename", from);
  }
  FileResult<void> remove(const std::filesystem::path& path) override {
    return failed("remove", path);
  }
  FileResult<void> make_read_only(const std::filesystem::path& path) override {
    return failed("chmod", path);
  }
  FileResult<void> create_directory(const std::filesystem::path& path) override {
    return failed("create directory", path);
  }
  FileResult<void> sync_directory(const std::filesystem::path& path) override {
    return failed("fsync", path);
  }
  FileResult<std::unique_ptr<FileLock>> lock(const std::filesystem::path& path) override {
    return failed("lock", path);
  }

private:
  class CountedFile : public File {
  public:
    CountedFile(CountedFiles& files, std::filesystem::path path, std::unique_ptr<File> file)
        : files_(files), path_(std::move(path)), file_(std::move(file)) {}

    FileResult<std::size_t> read(std::uint64_t offset, std::span<char> into) override {
      if (path_.extension() == ".dss") {
        ++files_.counts_.segment_reads;
        files_.counts_.segment_bytes += into.size();
      }
      if (files_.fails())
        return failed("read", path_);
      return file_->read(offset, into);
    }
    FileResult<std::uint64_t> size() override {
      if (files_.fails())
        return failed("stat", path_);
      return file_->size();
    }
    FileResult<void> write(std::uint64_t, std::span<const std::string_view>) override {
      return failed("write", path_);
    }
    FileResult<void> sync() override { return failed("fsync", path_); }
    FileResult<void> truncate(std::uint64_t) override { return failed("truncate", path_); }

  private:
    CountedFiles& files_;
    std::filesystem::path path_;
    std::unique_ptr<File> file_;
  };

  bool fails() { return counts_.operations++ == fails_at_; }
  static std::unexpected<FileError> failed(std::string operation,
                                           const std::filesystem::path& path) {
    return std::unexpected(
        FileError{std::make_error_code(std::errc::io_error), std::move(operation), path});
  }

  Counts counts_;
  std::uint64_t fails_at_ = std::numeric_limits<std::uint64_t>::max();
};

} // namespace datastream::test
