#pragma once
/// What became of everything that an archive was given.

#include <cstdint>

namespace datastream {

/// Frames that an archive did not store, by reason.
struct NotStored {
  std::uint64_t suspended = 0;     ///< the disk was full, or a file could not be written or read
  std::uint64_t stopped = 0;       ///< the archive had stopped, or was closed
  std::uint64_t too_large = 0;     ///< a payload or a node's name is beyond what a segment can hold
  std::uint64_t out_of_memory = 0; ///< there was no memory to take them

  std::uint64_t total() const { return suspended + stopped + too_large + out_of_memory; }
  friend bool operator==(const NotStored&, const NotStored&) = default;
};

/// One cut through the counters of an archive, in frames, since it was opened.
struct ArchiveLedger {
  std::uint64_t offered = 0;
  std::uint64_t stored = 0;     ///< durable
  std::uint64_t pending = 0;    ///< taken, not yet durable
  std::uint64_t duplicates = 0; ///< position stored already, with the same channel and bytes
  std::uint64_t conflicts = 0;  ///< position stored already, with others; the first stays
  std::uint64_t unverified = 0; ///< position stored so long ago that nobody compared
  NotStored not_stored;

  std::uint64_t commits = 0;                  ///< groups that became durable
  std::uint64_t conflicting_declarations = 0; ///< the first declaration stays
  /// Also of where streams begin and end: too large, could not be stored, or came when the archive
  /// had stopped or was closed. What comes once more is not counted once more.
  std::uint64_t refused_declarations = 0;

  /// offered = stored + pending + duplicates + conflicts + unverified + not stored
  bool balanced() const {
    return offered == stored + pending + duplicates + conflicts + unverified + not_stored.total();
  }
  friend bool operator==(const ArchiveLedger&, const ArchiveLedger&) = default;
};

} // namespace datastream
