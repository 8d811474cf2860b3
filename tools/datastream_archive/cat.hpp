#pragma once
/// The two orders in which frames are shown.

#include "commands.hpp"
#include "faults.hpp"
#include "output.hpp"

#include <datastream/archive/archive_reader.hpp>
#include <datastream/model/subscription_request.hpp>

namespace datastream::tool {

/// Throws `Failure` if an option names a channel that no stream has: that is a mistake, and not an
/// empty answer.
void check_channels(const CatOptions& options, const DatastreamSnapshot& catalog);

void cat_by_sequence(ArchiveReader& reader, const CatOptions& options, Output& out, Faults& faults);
void cat_by_stream(ArchiveReader& reader, const CatOptions& options, Output& out, Faults& faults);

} // namespace datastream::tool
