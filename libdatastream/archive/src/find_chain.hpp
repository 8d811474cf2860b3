#pragma once
/// Finds the way back into a segment behind a block whose head is damaged.

#include "segment_file.hpp"

#include <datastream/archive/archive_error.hpp>

#include <cstdint>
#include <expected>
#include <optional>

namespace datastream {

/// Where a segment ends, as far as that is known without its blocks.
struct SegmentEnd {
  std::optional<std::uint64_t> offset; ///< nothing: with its file, which nobody writes any more
  std::uint64_t sequence = 0;          ///< the first one that is not in it
};

/// The first block behind a place at which there is none that is whole, from where the blocks go on
/// to the end of what counts of the segment: `limit` bytes.
///
/// Bytes that look like a block may lie in a payload, even whole segments. What is found here
/// begins with sequences that are missing, has a body that is whole, and its chain ends exactly
/// where the segment is known to end: at the offset and with the sequence that the tip or the
/// trailer has; or, where neither tells, with the file, either with its last block or with a
/// footer.
///
/// Nothing: there is none. Errors: `io`, `missing`; throws `std::bad_alloc`.
std::expected<std::optional<BlockPlace>, ArchiveError> find_chain(const SegmentFile& file,
                                                                  const BlockPlace& damaged,
                                                                  std::uint64_t limit,
                                                                  const SegmentEnd& end);

} // namespace datastream
