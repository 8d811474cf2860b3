#pragma once
/// What a reader of an archive, its cursors and its streams share.

#include "format/descriptors_block.hpp"
#include "format/tip.hpp"
#include "recently_used.hpp"
#include "segment.hpp"

#include <datastream/archive/archive_error.hpp>
#include <datastream/archive/file_system.hpp>
#include <datastream/defaults.hpp>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace datastream {

/// An archive as it was durable at one moment: its tip, and the segments up to it.
///
/// Contiguity of sequences is what tells that something is missing: where a segment does not begin
/// with the sequence that follows the last one before it, there is a hole.
struct Snapshot {
  struct Listed {
    std::shared_ptr<Segment> file;
    /// As it was when the snapshot was made: all that is said of one snapshot agrees.
    std::expected<format::SegmentHeader, ArchiveError> header;
    std::uint64_t number() const noexcept { return file->number(); }
    friend bool operator==(const Listed&, const Listed&) = default;
  };

  format::Tip tip;
  /// Why more may be durable than the tip says. Only of a look at all.
  std::optional<ArchiveError> tip_fault;
  std::filesystem::path directory;
  std::vector<Listed> segments; ///< ascending by number, none behind the tip's

  /// Up to where a segment is durable; nothing: as a whole.
  std::optional<std::uint64_t> limit(std::size_t index) const;
  SegmentEnd end_of(std::size_t index) const { return {limit(index), begin_of(index + 1)}; }
  bool is_last(std::size_t index) const { return segments[index].number() == tip.segment; }
  /// First sequence of the first segment, from this one on, whose header can be read; behind all of
  /// them the next sequence to be given out.
  std::uint64_t begin_of(std::size_t index) const;
  /// The last segment that begins at a sequence or before it; nothing: all begin behind it.
  std::optional<std::size_t> find(std::uint64_t sequence) const;

  /// What is wrong in front of all segments, if anything.
  std::optional<ArchiveError> fault_before() const;
  /// What is wrong between the blocks of a segment, which reach up to the sequence `reached` and
  /// perhaps for a reason no further, and the next segment.
  std::optional<ArchiveError> fault_behind(std::size_t index, std::uint64_t reached,
                                           std::optional<ArchiveError> why) const;

private:
  std::optional<ArchiveError> fault(std::uint64_t reached, std::size_t next,
                                    std::optional<ArchiveError> why) const;
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;
using SegmentIndexPtr = std::shared_ptr<const SegmentIndex>;

/// The files of one archive, read. Keeps the indexes that were used last, up to a bound.
///
/// Thread safety: any thread. No lock is held while a body is read.
class SegmentSet {
public:
  SegmentSet(std::filesystem::path directory, FileSystem& files)
      : directory_(std::move(directory)), files_(files) {}

  enum class Look {
    at_tip, ///< what it names is new, if it is another one
    at_all, ///< what was missing or could not be read may be there now
  };
  /// What is durable now: the same object if nothing has changed.
  /// Errors: those of `ArchiveReader::open`.
  std::expected<SnapshotPtr, ArchiveError> refresh(Look look);
  /// The same moment, with nothing known of its files.
  Snapshot afresh(const Snapshot& snapshot) const;

  /// The index of a segment of a snapshot, as far as that snapshot goes or further.
  std::expected<SegmentIndexPtr, ArchiveError> index(const Snapshot& snapshot, std::size_t index);

  /// Visits the index of every segment, from the first one of those that are wanted, in order, and
  /// every hole in or between them, with the sequences that it costs; at last what is wrong with
  /// the tip, which costs nobody knows what.
  void each_index(const Snapshot& snapshot,
                  const std::function<void(std::size_t, const SegmentIndexPtr&)>& visit,
                  const std::function<void(ArchiveError)>& fault, std::size_t first = 0);

  /// How far descriptors were read: all blocks of earlier segments, and so many of this one.
  struct DescriptorsRead {
    std::uint64_t segment = 0; ///< its number
    std::size_t blocks = 0;
  };
  /// Visits what the blocks of descriptors say that were not read yet, in order, and everything
  /// because of which some cannot be read, with the number of the last segment whose frames may
  /// lack names for that. Returns how far they are read now.
  DescriptorsRead
  each_descriptors(const Snapshot& snapshot, DescriptorsRead read,
                   const std::function<void(const format::Descriptors&)>& visit,
                   const std::function<void(ArchiveError, std::uint64_t segment)>& fault);

private:
  struct FoundTip {
    format::Tip tip;
    std::optional<ArchiveError> fault;
  };
  std::expected<FoundTip, ArchiveError> find_tip(Look look) const;
  std::optional<ArchiveError> check_for_segments() const;
  std::expected<std::vector<Snapshot::Listed>, ArchiveError>
  list_segments(const format::Tip& tip) const;

  const std::filesystem::path directory_;
  FileSystem& files_;

  mutable std::mutex mutex_;
  SnapshotPtr latest_;
  RecentlyUsed<std::uint64_t, SegmentIndexPtr> kept_{defaults::archive_reader_index_bytes};
};

} // namespace datastream
