#pragma once
/// What makes groups durable.

#include "group.hpp"
#include "group_layout.hpp"
#include "recovery.hpp"
#include "stored_positions.hpp"
#include "write_failure.hpp"

#include <datastream/archive/archive.hpp>
#include <datastream/pipe/catalog.hpp>

#include <cstdint>
#include <expected>
#include <filesystem>
#include <optional>

namespace datastream {

/// Puts groups into segments, then tells readers of them, and then lets the index follow. Of each
/// group in this order: `lay_out`, `store`, `publish`, `follow`. After any failure or exception
/// only `open` helps, which recovers.
///
/// Thread safety: one owner, without a lock: the committing thread, and before there is one whoever
/// opens the archive. Ownership: it has the files of the archive but for its lock; what it is
/// constructed with must outlive it. Throws `std::bad_alloc`.
class GroupWriter {
public:
  GroupWriter(const std::filesystem::path& directory, const ArchiveOptions& options,
              FileSystem& files, Catalog& catalog)
      : directory_(directory), options_(options), files_(files), catalog_(catalog) {}

  /// Recovers, for the first time or after a failure. Fills the catalog, and `positions`, which
  /// refer to the index until the next call. Errors: as `Archive::open`.
  std::expected<void, WriteFailure> open(StoredPositions& positions);
  /// What that found.
  const ArchiveRecovery& recovery() const noexcept { return opened_.report; }
  /// Of everything that is durable.
  Sequence last() const noexcept { return {opened_.segment->end().sequence - 1}; }

  /// Takes the blocks of a group, and finds a segment that has room for them.
  std::expected<LaidOutGroup, WriteFailure> lay_out(Group& group);
  /// Makes them durable. Their memory goes back to the group.
  std::expected<void, WriteFailure> store(LaidOutGroup& laid_out, Group& group);
  /// Tells readers that they are.
  std::expected<void, ArchiveError> publish();
  /// Lets the index know the same.
  std::expected<void, ArchiveError> follow(const Said& said,
                                           const StoredPositions::Changes& changes);
  /// Makes the index durable and closes all files.
  std::expected<void, ArchiveError> close();

private:
  bool has_room(std::uint64_t bytes, std::size_t index_bytes) const noexcept;
  std::expected<void, WriteFailure> next_segment();

  const std::filesystem::path& directory_;
  const ArchiveOptions& options_;
  FileSystem& files_;
  Catalog& catalog_;

  OpenedArchive opened_;
  std::optional<RecoveryOptions::Committed>
      committed_; ///< at the end of the last life of `opened_`
  format::Compressor compressor_;
  Metadata::Batch metadata_batch_; ///< for the next write
  bool sealed_ = false;            ///< a segment, since the last one
};

} // namespace datastream
