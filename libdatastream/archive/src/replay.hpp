#pragma once
/// Reads what the segments of an archive have and its index has not.

#include "format/block_index.hpp"
#include "metadata.hpp"
#include "recovery_state.hpp"
#include "segment_file.hpp"
#include "stored_positions.hpp"
#include "write_failure.hpp"

#include <datastream/model/block.hpp>
#include <datastream/pipe/catalog.hpp>

#include <cstdint>
#include <expected>
#include <optional>

namespace datastream {

/// One pass over the segments from where the index ends, of which catalog, stored positions and
/// index learn. What is not whole is a hole, or refused, or, at the very end, cut off.
///
/// Thread safety: one owner. Throws `std::bad_alloc`.
class Replay {
public:
  Replay(RecoveryState& state, Catalog& catalog, StoredPositions& positions)
      : state_(state), catalog_(catalog), positions_(positions) {}

  using Result = std::expected<void, WriteFailure>;

  /// Leaves the last segment open, if there is one that can be gone on with.
  Result run();
  /// Of the next frame, behind all that was found.
  std::uint64_t sequence() const noexcept { return sequence_; }
  /// Lets the index follow up to there.
  Result follow(const MetadataCursor& end);

private:
  Result replay_segment(std::uint64_t number, bool last);
  Result replay_sealed(const SegmentFile& segment, const SegmentFile::Sealed& sealed,
                       std::uint64_t bytes, bool last);
  Result replay_open(SegmentFile& segment, std::uint64_t size, bool last);
  Result take(const SegmentFile& segment, const format::IndexEntry& entry, const BlockPtr& body);

  RecoveryState& state_;
  Catalog& catalog_;
  StoredPositions& positions_;
  Metadata::Batch batch_;           ///< for the next step
  std::uint64_t sequence_ = 1;      ///< of the next frame
  std::optional<BlockPlace> start_; ///< within the first segment that is replayed
};

} // namespace datastream
