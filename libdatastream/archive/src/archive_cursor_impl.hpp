#pragma once

#include "frame_filter.hpp"
#include "segment_set.hpp"

#include <datastream/archive/archive_cursor.hpp>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <vector>

namespace datastream {

/// Goes through the entries of one segment's index after the other. Its place is an entry; frames
/// of it that lie before `position` are passed over.
class ArchiveCursor::Impl {
public:
  Impl(std::shared_ptr<SegmentSet> set, SnapshotPtr snapshot, std::uint64_t position,
       ReadFilter filter);

  std::expected<std::optional<ArchivedBatch>, ArchiveError> next();
  Sequence position() const noexcept { return {position_}; }

private:
  /// A batch that was read, and what is done once it is given.
  struct Pending {
    ArchivedBatch batch;
    std::uint64_t end = 0;
  };

  std::expected<bool, ArchiveError> refresh();
  std::expected<std::optional<ArchivedBatch>, ArchiveError> find_next();
  std::expected<const format::IndexEntry*, ArchiveError> find_entry();
  /// Whether there is one that costs what is still to be read, or throws doubt on what was read up
  /// to `reached`.
  bool concerns(const std::optional<ArchiveError>& fault, std::uint64_t reached) const {
    return fault && (fault->lost->last.value >= position_ || fault->lost->first.value < reached);
  }
  void learn_names();
  std::optional<ArchiveError> enter(std::size_t index);
  std::optional<ArchiveError> gap_before_next();
  std::expected<std::optional<ArchivedBatch>, ArchiveError>
  read_descriptors(const format::IndexEntry& entry);
  std::optional<ArchiveError> read_block(const format::IndexEntry& entry);

  std::shared_ptr<SegmentSet> set_;
  SnapshotPtr snapshot_;
  FrameFilter filter_;
  SegmentSet::DescriptorsRead names_read_; ///< for a filter that has names
  std::uint64_t position_;
  bool failed_ = false; ///< the last time

  std::shared_ptr<Segment> segment_; ///< that is read; null: it has to be found
  std::shared_ptr<const SegmentFile> file_;
  SegmentIndexPtr index_;
  std::size_t ordinal_ = 0;             ///< of the next entry
  std::optional<std::size_t> told_gap_; ///< before this entry
  std::vector<Pending> pending_;        ///< of one block, the next one last
};

} // namespace datastream
