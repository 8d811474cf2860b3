#pragma once
/// Makes an archive's index anew.

#include <datastream/archive/archive.hpp>

#include <expected>
#include <filesystem>

namespace datastream {

/// Throws the index away and makes it from the segments alone. Nobody may have the archive open for
/// writing. Where acknowledged frames are gone from the last segment, which opening refuses to pass
/// over, this accepts their loss: they become a hole, with their sequences never given out again,
/// and the archive goes on behind it in a new segment. Segments are never changed, but for a torn
/// end that nothing says to have been acknowledged.
///
/// How far the archive was durable by the old index is in the tip, durably, before that index is
/// destroyed. An index that is damaged cannot tell it any more, which is said among the holes; one
/// that the system does not let us read is left as it is, and an error.
/// Errors: as `Archive::open`, but for `metadata_ahead`; `not_an_archive` where there are neither
/// segments nor a tip, in which case nothing was touched.
std::expected<ArchiveRecovery, ArchiveError> reindex(const std::filesystem::path& directory,
                                                     const ArchiveOptions& options = {});

} // namespace datastream
