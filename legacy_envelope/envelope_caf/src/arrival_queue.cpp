#include "arrival_queue.hpp"

#include <utility>

namespace datastream {

bool ArrivalQueue::push(Arrival arrival, const std::function<void()>& wake) {
  const std::size_t bytes = arrival.frames.pinned_bytes();
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return closed_ || bytes_ == 0 || bytes_ + bytes <= bytes_max_; });
  if (closed_)
    return false;
  const bool was_empty = arrivals_.empty();
  arrivals_.push_back(std::move(arrival));
  bytes_ += bytes;
  lock.unlock();
  if (was_empty)
    wake();
  return true;
}

std::vector<Arrival> ArrivalQueue::take() {
  const std::lock_guard lock(mutex_);
  bytes_ = 0;
  room_.notify_all();
  return std::exchange(arrivals_, {});
}

void ArrivalQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  discarded_ += frames();
  arrivals_.clear();
  room_.notify_all();
}

ArrivalQueue::Counts ArrivalQueue::counts() const {
  const std::lock_guard lock(mutex_);
  return {frames(), discarded_};
}

/// The lock must be held.
std::uint64_t ArrivalQueue::frames() const {
  std::uint64_t sum = 0;
  for (const Arrival& arrival : arrivals_)
    sum += arrival.frames.size();
  return sum;
}

} // namespace datastream
