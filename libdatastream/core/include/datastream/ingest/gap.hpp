#pragma once
/// What is missing from a stored stream (specification 7.3).

#include <datastream/model/ids.hpp>

#include <cstdint>

namespace datastream {

/// Positions that are missing between two that were stored: somebody lost frames that had been
/// assigned. Nothing is known to be missing before the first position that was ever stored, or
/// after the last one. That retention has removed the frame below a gap since does not close the
/// gap.
struct GapSpan {
  Position first; ///< lowest missing position
  Position last;  ///< highest missing position, inclusive

  std::uint64_t count() const { return last.value - first.value + 1; }
  friend bool operator==(const GapSpan&, const GapSpan&) = default;
};

/// What retention has removed. Never a gap: those frames did arrive. What was missing between them
/// is told by its number only.
struct EvictedRange {
  /// First position that is not evicted: everything below is gone, and is refused should it come
  /// late. Stays at 2^64 - 1 when that last position of all is gone too.
  Position end;
  std::uint64_t frames = 0; ///< frames that were stored once and removed
  std::uint64_t bytes = 0;  ///< payload bytes of those frames
  /// Positions between those frames that were never stored: together with the gaps that are left,
  /// `IngestLedger::interior_gaps`.
  std::uint64_t missing = 0;

  friend bool operator==(const EvictedRange&, const EvictedRange&) = default;
};

} // namespace datastream
