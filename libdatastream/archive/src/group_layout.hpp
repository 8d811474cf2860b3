#pragma once
/// A group as the blocks that its segment will have.

#include "format/block.hpp"
#include "group.hpp"
#include "segment_writer.hpp"

#include <datastream/pipe/catalog.hpp>

#include <string>
#include <vector>

namespace datastream {

/// The blocks of a group in their order, each behind what its segment must have said before it.
struct LaidOutGroup {
  std::vector<format::UnplacedBlock> blocks;
  SegmentDeclarations said;                 ///< in them, and not yet in the segment
  std::vector<format::BlockStream> streams; ///< of all blocks
};

/// Lays out what was said in a group, and its blocks of frames, for a segment that has said `known`
/// already. Names that it lacks come from the catalog, as far as that knows them: so the frames of
/// a segment can be named from itself. The same goes for `source`, unless it is empty. Throws
/// `std::bad_alloc`.
LaidOutGroup lay_out(const Said& said, std::vector<FilledBlock>&& filled,
                     const SegmentDeclarations& known, const Catalog& catalog,
                     const std::string& source, format::Compressor& compressor);

} // namespace datastream
