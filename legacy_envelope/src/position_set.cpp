#include <datastream/envelope/position_set.hpp>

#include <algorithm>

namespace datastream {

bool PositionSet::insert(Position position) {
  // The last run that begins at or before the position; most positions go to the highest one.
  auto above = runs_.end();
  if (!runs_.empty() && position < runs_.back().first)
    above = std::ranges::upper_bound(runs_, position, {}, &Run::first);
  if (above != runs_.begin()) {
    Run& run = *std::prev(above);
    if (position <= run.last)
      return false;
    if (position.value - run.last.value == 1) {
      run.last = position;
      if (above != runs_.end() && above->first.value - position.value == 1) {
        run.last = above->last;
        runs_.erase(above);
      }
      return true;
    }
  }
  if (above != runs_.end() && above->first.value - position.value == 1) {
    above->first = position;
    return true;
  }
  runs_.insert(above, {position, position});
  if (runs_.size() > runs_max_) {
    runs_[1].first = runs_[0].first;
    runs_.pop_front();
  }
  return true;
}

} // namespace datastream
