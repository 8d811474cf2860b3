#pragma once
/// Messages of an archive's actor.

#include <datastream/archive/archive_ledger.hpp>
#include <datastream/caf/inspect.hpp>

#include <cstdint>
#include <string>

namespace datastream {

/// How an archive is doing.
struct ArchiveStatus {
  ArchiveLedger ledger;
  std::uint64_t last_durable = 0;     ///< the last sequence that is durable; 0: nothing yet
  std::uint64_t malformed_frames = 0; ///< in batches of peers that make no sense; refused
  std::string trouble;                ///< why nothing is stored at the moment; empty: all is well
  friend bool operator==(const ArchiveStatus&, const ArchiveStatus&) = default;
};

template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, NotStored& x) {
  return compat::inspect_object(f, x, "NotStored", "suspended", x.suspended, "stopped", x.stopped,
                                "too_large", x.too_large, "out_of_memory", x.out_of_memory);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, ArchiveLedger& x) {
  return compat::inspect_object(
      f, x, "ArchiveLedger", "offered", x.offered, "stored", x.stored, "pending", x.pending,
      "duplicates", x.duplicates, "conflicts", x.conflicts, "unverified", x.unverified,
      "not_stored", x.not_stored, "commits", x.commits, "conflicting_declarations",
      x.conflicting_declarations, "refused_declarations", x.refused_declarations);
}
template <class Inspector>
compat::InspectResult<Inspector> inspect(Inspector& f, ArchiveStatus& x) {
  return compat::inspect_object(f, x, "ArchiveStatus", "ledger", x.ledger, "last_durable",
                                x.last_durable, "malformed_frames", x.malformed_frames, "trouble",
                                x.trouble);
}

} // namespace datastream
