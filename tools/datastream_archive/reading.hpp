#pragma once
/// Reading what can be read, and saying what cannot.

#include "faults.hpp"

#include <datastream/archive/archive_reader.hpp>
#include <datastream/pipe/catalog.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace datastream::tool {

void report_holes(ArchiveReader& reader, Faults& faults);
/// Only what nobody knows what it costs: a cursor reports the others as it comes upon them.
void report_damaged_tip(ArchiveReader& reader, Faults& faults);

/// As much of it as can be read. What is wrong is reported, if it concerns frames from there on.
std::shared_ptr<const Catalog> read_catalog(ArchiveReader& reader, Faults& faults,
                                            Sequence from = {});

/// A cursor that goes on behind what is lost.
class Reading {
public:
  Reading(ArchiveReader& reader, ReadFilter filter, Sequence from, Faults& faults);

  /// The next batch; nothing: no more came in time.
  std::optional<ArchivedBatch> next(std::chrono::milliseconds timeout = {});
  Sequence position() const { return cursor_.position(); }

private:
  ArchiveReader& reader_;
  ReadFilter filter_;
  Faults& faults_;
  ArchiveCursor cursor_;
  std::optional<std::string> passed_; ///< the last error that should have been passed over
};

} // namespace datastream::tool
