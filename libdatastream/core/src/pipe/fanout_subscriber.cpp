#include "fanout_subscriber.hpp"

#include <algorithm>
#include <new>

namespace datastream {
namespace {

/// Deliveries without frames that are under way to a pushed subscriber: they take no room of
/// frames, so this is what keeps one that does not acknowledge from being sent ever more of them.
constexpr std::size_t notices_max = 64;

} // namespace

FanoutSubscriber::FanoutSubscriber(SubscriptionId id, std::string name, SubscriptionRequest request,
                                   SubscriberCapacity capacity,
                                   std::shared_ptr<const Catalog> catalog,
                                   std::size_t snapshot_version,
                                   std::unique_ptr<SubscriberSink>& sink)
    : id_(id), name_(std::move(name)),
      request_(std::make_shared<const SubscriptionRequest>(std::move(request))),
      capacity_{std::max<std::size_t>(capacity.frames, 1), capacity.bytes},
      catalog_(std::move(catalog)), snapshot_version_(snapshot_version),
      told_version_(snapshot_version) {
  sink_ = std::move(sink);
}

/// What there is room for; nothing when it would have to be copied and there is no memory.
FrameBatch FanoutSubscriber::fitting(const FrameBatch& batch) const {
  try {
    return batch.prefix_within(
        capacity_.frames - counts_.outstanding,
        capacity_.bytes > outstanding_bytes_ ? capacity_.bytes - outstanding_bytes_ : 0);
  } catch (const std::bad_alloc&) {
    return {};
  }
}

/// Queues or pushes what fits. Throws `std::bad_alloc`, and then has done nothing.
std::size_t FanoutSubscriber::accept(const FrameBatch& batch) {
  tell_ends_locked();
  FrameBatch part = fitting(batch);
  const std::size_t accepted = part.size();
  if (accepted == 0)
    return 0;
  // The count that travels is that of the frames lost before these.
  Item item{.count = accepted, .bytes = part.pinned_bytes(), .dropped = counts_.dropped};
  const std::size_t bytes = item.bytes;
  item.frames = std::move(part);
  enqueue(std::move(item));
  counts_.outstanding += accepted;
  outstanding_bytes_ += bytes;
  return accepted;
}

std::size_t FanoutSubscriber::offer(const FrameBatch& batch) {
  const std::lock_guard lock(mutex_);
  std::size_t accepted = 0;
  try {
    accepted = closed_ ? 0 : accept(batch);
  } catch (const std::bad_alloc&) {
    // A copy that finds no memory is a copy that finds no room.
  }
  counts_.offered += batch.size();
  counts_.dropped += batch.size() - accepted;
  if (accepted == 0 && items_.empty() && !closed_)
    refresh_locked(); // nothing is on its way that would carry the count
  return accepted;
}

void FanoutSubscriber::begin(std::list<StreamStart>& starts) noexcept {
  const std::lock_guard lock(mutex_);
  if (!closed_)
    starts_due_.splice(starts_due_.end(), starts, starts.begin());
}

void FanoutSubscriber::end(std::list<StreamEnd>& ends) noexcept {
  const std::lock_guard lock(mutex_);
  if (!closed_)
    ends_due_.splice(ends_due_.end(), ends, ends.begin());
}

void FanoutSubscriber::tell_ends() {
  const std::lock_guard lock(mutex_);
  tell_ends_locked();
}

void FanoutSubscriber::end_before_start(const StreamEnd& end) {
  const std::lock_guard lock(mutex_);
  if (push_mode())
    ends_due_.push_back(end);
  else
    enqueue({.dropped = counts_.dropped, .ended = end});
}

void FanoutSubscriber::forget(const StreamId& stream) noexcept {
  const auto is_of_it = [&](const auto& due) { return due.stream == stream; };
  const std::lock_guard lock(mutex_);
  starts_due_.remove_if(is_of_it);
  ends_due_.remove_if(is_of_it);
}

void FanoutSubscriber::tell_ends_locked() {
  for (; !ends_due_.empty() && notices_in_flight_ < notices_max; ends_due_.pop_front())
    enqueue({.dropped = counts_.dropped, .ended = ends_due_.front()});
}

/// Throws `std::bad_alloc`, and then has done nothing.
void FanoutSubscriber::enqueue(Item item) {
  if (!push_mode()) {
    items_.push_back(std::move(item));
    arrived_.notify_one();
    return;
  }
  item.sequence = last_sequence_ + 1;
  const Item& kept = items_.emplace_back(
      Item{.count = item.count, .bytes = item.bytes, .sequence = item.sequence});
  try {
    sink_->deliver(make_event(item));
  } catch (const std::bad_alloc&) {
    items_.pop_back();
    throw;
  }
  last_sequence_ = kept.sequence;
  notices_in_flight_ += kept.count == 0 ? 1 : 0;
  told(item.dropped);
}

/// The catalog that this subscriber may be told: nothing that came after it was closed.
std::size_t FanoutSubscriber::known_version() const noexcept {
  return closed_ ? last_version_ : catalog_->version();
}

EventBatch FanoutSubscriber::make_event(Item& item) {
  EventBatch event;
  event.subscription = id_;
  event.sequence = item.sequence;
  telling_version_ = known_version();
  if (telling_version_ != told_version_)
    event.declarations = catalog_->declarations(told_version_, telling_version_);
  event.starts.assign(starts_due_.begin(), starts_due_.end());
  event.frames = std::move(item.frames);
  event.dropped = item.dropped;
  event.ended = std::move(item.ended);
  event.names = DeclaredNames(catalog_, request_, snapshot_version_, telling_version_);
  return event;
}

/// What the event that was made last says has been told.
void FanoutSubscriber::told(std::uint64_t dropped) {
  told_version_ = telling_version_;
  told_dropped_ = dropped;
  starts_due_.clear();
}

/// Something to tell that takes no room of frames.
bool FanoutSubscriber::declarations_due() const {
  return known_version() != told_version_ || !starts_due_.empty();
}

/// Something to tell that no queued frame will carry: while frames wait, they do.
bool FanoutSubscriber::news_due() const {
  return declarations_due() || counts_.dropped != told_dropped_;
}

void FanoutSubscriber::refresh() {
  const std::lock_guard lock(mutex_);
  refresh_locked();
}

void FanoutSubscriber::refresh_locked() {
  if (!push_mode()) {
    if (news_due())
      arrived_.notify_one();
    return;
  }
  try {
    tell_ends_locked();
    // One notice tells all that is due but for ends, so the next waits for its acknowledgement.
    const bool room = counts_.outstanding < capacity_.frames;
    if (notices_in_flight_ == 0 && (declarations_due() || (room && news_due())))
      enqueue({.dropped = counts_.dropped});
  } catch (const std::bad_alloc&) {
    // Still due: the next refresh or delivery tells it.
  }
}

std::size_t FanoutSubscriber::release_front() {
  const std::size_t count = items_.front().count;
  counts_.outstanding -= count;
  counts_.acknowledged += count;
  outstanding_bytes_ -= items_.front().bytes;
  items_.pop_front();
  return count;
}

bool FanoutSubscriber::acknowledge(std::uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  if (!push_mode() || sequence > last_sequence_ || items_.empty() ||
      sequence < items_.front().sequence)
    return false;
  while (!items_.empty() && items_.front().sequence <= sequence)
    notices_in_flight_ -= release_front() == 0 ? 1 : 0;
  refresh_locked();
  return true;
}

bool FanoutSubscriber::settled() const {
  const std::lock_guard lock(mutex_);
  return !push_mode() || (items_.empty() && ends_due_.empty());
}

void FanoutSubscriber::close() {
  const std::lock_guard lock(mutex_);
  if (!closed_)
    last_version_ = catalog_->version();
  closed_ = true;
  arrived_.notify_all();
}

SubscriberCounts FanoutSubscriber::leave() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  counts_.abandoned += counts_.outstanding;
  counts_.outstanding = 0;
  outstanding_bytes_ = 0;
  items_.clear();
  ends_due_.clear();
  starts_due_.clear();
  last_version_ = told_version_; // nothing is due any more
  told_dropped_ = counts_.dropped;
  arrived_.notify_all();
  return counts_;
}

std::optional<EventBatch> FanoutSubscriber::take() {
  if (!items_.empty()) {
    EventBatch event = make_event(items_.front());
    told(event.dropped);
    release_front();
    if (items_.empty() && news_due())
      arrived_.notify_one(); // somebody else may be waiting for it
    return event;
  }
  if (!news_due())
    return std::nullopt;
  Item notice{.dropped = counts_.dropped};
  EventBatch event = make_event(notice);
  told(event.dropped);
  return event;
}

std::expected<EventBatch, RecvError> FanoutSubscriber::try_recv() {
  const std::lock_guard lock(mutex_);
  if (auto event = take())
    return *std::move(event);
  return std::unexpected(closed_ ? RecvError::disconnected : RecvError::empty);
}

std::expected<EventBatch, RecvError> FanoutSubscriber::recv(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  std::optional<EventBatch> event;
  arrived_.wait(lock, stop, [&] { return (event = take()) || closed_; });
  if (event)
    return *std::move(event);
  return std::unexpected(closed_ ? RecvError::disconnected : RecvError::stopped);
}

std::expected<EventBatch, RecvError>
FanoutSubscriber::recv_until(std::chrono::steady_clock::time_point deadline,
                             const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  std::optional<EventBatch> event;
  arrived_.wait_until(lock, stop, deadline, [&] { return (event = take()) || closed_; });
  if (event)
    return *std::move(event);
  if (closed_)
    return std::unexpected(RecvError::disconnected);
  return std::unexpected(stop.stop_requested() ? RecvError::stopped : RecvError::timeout);
}

SubscriberCounts FanoutSubscriber::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

} // namespace datastream
