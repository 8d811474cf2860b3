#pragma once
/// Which positions of one stream have been seen, in memory that does not grow with their number.

#include <datastream/model/ids.hpp>

#include <cstddef>
#include <deque>

namespace datastream {

/// Runs of positions. When there are more than `runs_max` of them, the two lowest become one: what
/// is missing between them then counts as seen. So a position that was inserted is never absent.
/// What is inserted above or below all runs costs the same however many there are; between them it
/// costs a move of those on the shorter side.
///
/// Thread safety: one owner.
class PositionSet {
public:
  /// `runs_max` is at least 1; a run takes 16 bytes, and the set half a kilobyte. Throws
  /// `std::bad_alloc`.
  explicit PositionSet(std::size_t runs_max) : runs_max_(runs_max) {}

  /// Returns whether it was absent. Quick when positions come about in order. Throws
  /// `std::bad_alloc`, and then has inserted nothing.
  bool insert(Position position);

private:
  struct Run {
    Position first;
    Position last;
  };

  std::size_t runs_max_;
  std::deque<Run> runs_; // ascending; between two of them at least one position is missing
};

} // namespace datastream
