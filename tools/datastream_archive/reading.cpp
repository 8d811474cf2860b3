#include "reading.hpp"

#include "failure.hpp"

#include <utility>

namespace datastream::tool {

void report_holes(ArchiveReader& reader, Faults& faults) {
  for (const ArchiveError& hole : reader.holes())
    faults.report(hole);
}

void report_damaged_tip(ArchiveReader& reader, Faults& faults) {
  for (const ArchiveError& hole : reader.holes())
    if (!hole.lost)
      faults.report(hole);
}

std::shared_ptr<const Catalog> read_catalog(ArchiveReader& reader, Faults& faults, Sequence from) {
  const auto catalog = reader.catalog();
  if (catalog)
    return *catalog;
  const auto& lost = catalog.error().lost;
  if (!lost || lost->last >= from) // what lies behind a hole does not need its names
    faults.report(catalog.error());
  return must(reader.catalog(Holes::leave_out));
}

Reading::Reading(ArchiveReader& reader, ReadFilter filter, Sequence from, Faults& faults)
    : reader_(reader), filter_(std::move(filter)), faults_(faults),
      cursor_(must(reader.read_from(from, filter_))) {}

std::optional<ArchivedBatch> Reading::next(std::chrono::milliseconds timeout) {
  while (true) {
    auto batch = cursor_.next(timeout);
    if (batch) {
      passed_.reset();
      return std::move(*batch);
    }
    const ArchiveError& error = batch.error();
    faults_.report(error);
    if (error.lost) {
      const Sequence behind{error.lost->last.value + 1};
      if (behind <= cursor_.position())
        throw Failure(error);
      cursor_ = must(reader_.read_from(behind, filter_));
      passed_.reset();
    } else if (passed_ == error.message) {
      throw Failure(error); // it does not pass
    } else {
      passed_ = error.message; // what costs names only is passed over
    }
  }
}

} // namespace datastream::tool
