#pragma once
/// One segment of an archive that is being read: its file, its header and the index of its blocks,
/// each read when it is first needed.

#include "find_chain.hpp"
#include "format/block_index.hpp"
#include "format/segment_header.hpp"
#include "segment_file.hpp"

#include <datastream/archive/archive_error.hpp>
#include <datastream/archive/file_system.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace datastream {

/// The blocks of a segment, as far as they were looked at: from the footer, or, where there is none
/// or it is damaged, by walking from block to block, and on behind those that are damaged. Grows
/// with a segment that is being written, from where it ended.
///
/// Thread safety: any thread. Entries stay where they are.
class SegmentIndex {
public:
  explicit SegmentIndex(BlockPlace begin) : end_(begin) {}

  /// Takes in what there is up to an end, which is that of a block. Where that fails, `stop` tells.
  /// Throws `std::bad_alloc`.
  void extend(const SegmentFile& file, const SegmentEnd& end);
  /// Whether there is nothing to take in.
  bool reaches(const SegmentEnd& end) const;

  std::size_t size() const;
  const format::IndexEntry& entry(std::size_t ordinal) const;

  /// Blocks that are damaged, between others.
  struct Gap {
    std::size_t ordinal = 0; ///< of the entry behind them
    ArchiveError why;        ///< with their sequences, if they had any
  };
  /// In order.
  std::vector<Gap> gaps() const;
  std::optional<Gap> gap_before(std::size_t ordinal) const;

  struct State {
    BlockPlace end;                   ///< behind the last block that is known
    std::optional<ArchiveError> stop; ///< why nothing behind it is known
    bool sealed = false;              ///< there is a footer behind it
    std::size_t blocks = 0;
    std::size_t memory = 0; ///< bytes, about
  };
  State state() const;

private:
  bool is_known(const SegmentEnd& end) const {
    return sealed_ || (end.offset && *end.offset <= end_.offset);
  }
  bool adopt_footer(const SegmentFile& file, std::uint64_t size);
  bool pass_damage(const SegmentFile& file, std::uint64_t limit, const SegmentEnd& end,
                   ArchiveError why);
  void append(format::IndexEntry entry);

  mutable std::mutex mutex_;
  std::deque<format::IndexEntry> entries_;
  std::vector<Gap> gaps_;
  BlockPlace end_;
  std::optional<ArchiveError> stop_;
  std::uint64_t searched_ = 0; ///< no block behind `end_` leads to an end at this offset
  bool sealed_ = false;
  std::size_t memory_ = 0;
};

/// A segment file that a listing has. Nothing that failed is remembered.
///
/// Thread safety: any thread.
class Segment {
public:
  Segment(FileSystem& files, std::filesystem::path path, std::uint64_t number,
          format::ArchiveId archive)
      : files_(files), path_(std::move(path)), number_(number), archive_(archive) {}

  const std::filesystem::path& path() const noexcept { return path_; }
  std::uint64_t number() const noexcept { return number_; }

  /// Errors, of all functions: as `SegmentFile`; `damaged` for what is no segment of this archive,
  /// or another than its name says.
  std::expected<format::SegmentHeader, ArchiveError> header();
  /// Open as long as somebody keeps it.
  std::expected<std::shared_ptr<const SegmentFile>, ArchiveError> file();
  /// The index, up to an end: see `SegmentIndex::extend`. The same one as long as somebody keeps
  /// it.
  std::expected<std::shared_ptr<const SegmentIndex>, ArchiveError> index(const SegmentEnd& end);

private:
  std::expected<std::shared_ptr<const SegmentFile>, ArchiveError> open();

  FileSystem& files_;
  const std::filesystem::path path_;
  const std::uint64_t number_;
  const format::ArchiveId archive_;

  std::mutex mutex_;
  std::optional<format::SegmentHeader> header_;
  std::weak_ptr<const SegmentFile> file_;
  std::weak_ptr<SegmentIndex> index_;
};

} // namespace datastream
