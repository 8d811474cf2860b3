#pragma once
/// Brings an archive into the state in which it can be written, whatever a crash has left.

#include "metadata.hpp"
#include "segment_writer.hpp"
#include "stored_positions.hpp"
#include "tip_file.hpp"
#include "write_failure.hpp"

#include <datastream/archive/archive.hpp>
#include <datastream/pipe/catalog.hpp>

#include <expected>
#include <filesystem>
#include <memory>
#include <optional>

namespace datastream {

/// Everything that writing needs.
struct OpenedArchive {
  format::ArchiveId archive{};
  std::unique_ptr<Metadata> metadata;
  std::unique_ptr<SegmentWriter> segment;
  std::unique_ptr<TipFile> tip;
  std::uint64_t first_sequence = 1; ///< the oldest that is kept
  ArchiveRecovery report;
};

struct RecoveryOptions {
  FileSystem& files;
  rocksdb::Env* metadata = nullptr;
  /// Make the index anew, and take the loss of acknowledged frames for a hole: see `reindex`. What
  /// only the old index knows of them is in the tip, durably, before that index is destroyed.
  bool reindex = false;
  /// What was committed by who recovers after a failed write. What is behind it in this segment was
  /// told to be not stored, and so must not be there, however whole.
  struct Committed {
    std::uint64_t segment = 0;
    std::uint64_t offset = 0;
  };
  std::optional<Committed> committed{};
};

/// The caller has the archive's lock. Fills `catalog` and `positions`, which refer to the index
/// that is returned. Throws `std::bad_alloc`. Errors: as `Archive::open`.
std::expected<OpenedArchive, WriteFailure> recover(const std::filesystem::path& directory,
                                                   const RecoveryOptions& options, Catalog& catalog,
                                                   StoredPositions& positions);

} // namespace datastream
