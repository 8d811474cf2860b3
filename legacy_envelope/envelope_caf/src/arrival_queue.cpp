#include "arrival_queue.hpp"

#include <chrono>
#include <utility>

namespace datastream {
namespace {

/// How long to wait when there is no memory to wake the actor with.
constexpr std::chrono::milliseconds pause{100};

} // namespace

std::size_t Arrival::memory() const noexcept {
  const std::size_t named = overhead + peer.name.size();
  if (frames.empty())
    return named;
  return named + frames.stream().node.value.size() + frames.headers().size_bytes() +
         frames.pinned_bytes();
}

bool ArrivalQueue::push(Arrival arrival, const std::function<void()>& wake) {
  const std::size_t bytes = arrival.memory();
  std::unique_lock lock(mutex_);
  wait_for_room(lock, bytes, wake);
  if (closed_)
    return false;
  arrivals_.push_back(std::move(arrival));
  bytes_ += bytes;
  wake_taker(lock, wake);
  return true;
}

/// Or until it is closed.
void ArrivalQueue::wait_for_room(std::unique_lock<std::mutex>& lock, std::size_t bytes,
                                 const std::function<void()>& wake) {
  while (!closed_ && !has_room(bytes)) {
    wake_taker(lock, wake);
    if (closed_ || has_room(bytes))
      return;
    if (asleep_)
      room_.wait_for(lock, pause);
    else
      room_.wait(lock);
  }
}

bool ArrivalQueue::has_room(std::size_t bytes) const noexcept {
  const std::size_t held = bytes_ + taken_bytes_;
  return held == 0 || held + bytes <= bytes_max_;
}

/// Lets go of the lock meanwhile, if the actor was not told yet.
void ArrivalQueue::wake_taker(std::unique_lock<std::mutex>& lock,
                              const std::function<void()>& wake) {
  if (!std::exchange(asleep_, false))
    return;
  lock.unlock();
  bool woken = true;
  try {
    wake();
  } catch (...) { // whatever it is: the arrival has been taken, and must not count as lost
    woken = false;
  }
  lock.lock();
  if (!woken) {
    asleep_ = true;
    room_.notify_all(); // who waits tries next
  }
}

std::vector<Arrival> ArrivalQueue::take() {
  const std::lock_guard lock(mutex_);
  taken_bytes_ = std::exchange(bytes_, 0);
  asleep_ = arrivals_.empty();
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
