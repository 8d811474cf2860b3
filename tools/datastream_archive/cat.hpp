#pragma once
/// The two orders in which frames are shown.

#include "commands.hpp"
#include "faults.hpp"
#include "output.hpp"

#include <datastream/archive/archive_reader.hpp>

namespace datastream::tool {

void cat_by_sequence(ArchiveReader& reader, const CatOptions& options, Output& out, Faults& faults);
void cat_by_stream(ArchiveReader& reader, const CatOptions& options, Output& out, Faults& faults);

} // namespace datastream::tool
