#include "runner_counts.hpp"

#include <utility>

namespace datastream {

std::shared_ptr<ProcessChannels> RunnerCounts::include(std::shared_ptr<ProcessChannels> channels) {
  Live::iterator entry;
  {
    const std::lock_guard lock(mutex_);
    entry = live_.insert(live_.end(), std::move(channels));
  }
  // Should there be no memory for it, what is given here to be called is called.
  return {entry->get(),
          [self = shared_from_this(), entry](ProcessChannels*) { self->retire(entry); }};
}

/// Nobody uses them any more, so nothing is counted after this.
void RunnerCounts::retire(Live::iterator channels) noexcept {
  Live last;
  const std::lock_guard lock(mutex_);
  past_ += (*channels)->counts();
  last.splice(last.end(), live_, channels); // goes when the lock is no longer held
}

ProcessCounts RunnerCounts::sum() const {
  const std::lock_guard lock(mutex_);
  ProcessCounts sum = past_;
  for (const auto& channels : live_)
    sum += channels->counts();
  return sum;
}

} // namespace datastream
