#include "fanout_subscriber.hpp"

#include <algorithm>
#include <new>

namespace datastream {

FanoutSubscriber::FanoutSubscriber(SubscriptionId id, std::string name, SubscriptionRequest request,
                                   SubscriberCapacity capacity,
                                   std::shared_ptr<const Catalog> catalog,
                                   std::size_t snapshot_version,
                                   std::unique_ptr<SubscriberSink> sink)
    : id_(id), name_(std::move(name)),
      request_(std::make_shared<const SubscriptionRequest>(std::move(request))),
      capacity_{std::max<std::size_t>(capacity.frames, 1), capacity.bytes},
      catalog_(std::move(catalog)), snapshot_version_(snapshot_version), sink_(std::move(sink)),
      told_version_(snapshot_version) {}

/// The longest prefix of `batch` that both bounds have room for. What would pin much more memory
/// than it needs is copied out of its block.
FrameBatch FanoutSubscriber::fitting(const FrameBatch& batch) const {
  const std::size_t room_frames = capacity_.frames - counts_.outstanding;
  const std::size_t room_bytes =
      capacity_.bytes > outstanding_bytes_ ? capacity_.bytes - outstanding_bytes_ : 0;
  if (batch.size() <= room_frames && batch.pinned_bytes() <= room_bytes)
    return batch;
  std::size_t count = 0;
  std::size_t bytes = 0;
  for (const FrameHeader& header : batch.headers()) {
    if (count == room_frames || bytes + header.length > room_bytes)
      break;
    ++count;
    bytes += header.length;
  }
  FrameBatch part = batch.slice(0, count);
  const std::size_t pinned = part.pinned_bytes();
  if (count == 0 || (pinned <= room_bytes && pinned <= 2 * bytes))
    return part;
  try {
    return part.compact();
  } catch (const std::bad_alloc&) {
    return {};
  }
}

std::size_t FanoutSubscriber::offer(const FrameBatch& batch) {
  const std::lock_guard lock(mutex_);
  FrameBatch part = closed_ ? FrameBatch() : fitting(batch);
  const std::size_t accepted = part.size();
  counts_.offered += batch.size();
  if (accepted) {
    // The count that travels is that of the frames lost before these.
    Item item{.count = accepted, .bytes = part.pinned_bytes(), .dropped = counts_.dropped};
    item.frames = std::move(part);
    counts_.outstanding += accepted;
    outstanding_bytes_ += item.bytes;
    enqueue(std::move(item));
  }
  counts_.dropped += batch.size() - accepted;
  // Nothing is on its way that would carry the count.
  if (accepted == 0 && items_.empty() && !closed_) {
    if (push_mode())
      enqueue({.dropped = counts_.dropped});
    else
      arrived_.notify_one();
  }
  return accepted;
}

void FanoutSubscriber::end(const StreamEnd& end) {
  const std::lock_guard lock(mutex_);
  if (!closed_)
    enqueue({.dropped = counts_.dropped, .ended = end});
}

void FanoutSubscriber::end_before_start(const StreamEnd& end) {
  const std::lock_guard lock(mutex_);
  if (push_mode())
    ends_due_.push_back(end);
  else
    enqueue({.dropped = counts_.dropped, .ended = end});
}

void FanoutSubscriber::enqueue(Item item) {
  if (!push_mode()) {
    items_.push_back(std::move(item));
    arrived_.notify_one();
    return;
  }
  item.sequence = ++last_sequence_;
  sink_->deliver(make_event(item));
  item.frames = {};
  notices_in_flight_ += item.count == 0 ? 1 : 0;
  items_.push_back(std::move(item));
}

EventBatch FanoutSubscriber::make_event(Item& item) {
  EventBatch event;
  event.subscription = id_;
  event.sequence = item.sequence;
  if (const std::size_t version = catalog_->version(); version != told_version_) {
    event.declarations = catalog_->declarations(told_version_, version);
    told_version_ = version;
  }
  event.frames = std::move(item.frames);
  event.dropped = item.dropped;
  event.ended = std::move(item.ended);
  event.names = ChannelNames(catalog_, request_, snapshot_version_, told_version_);
  told_dropped_ = item.dropped;
  return event;
}

/// Something to tell that no queued frame will carry: while frames wait, they do.
bool FanoutSubscriber::news_due() const {
  return catalog_->version() != told_version_ || counts_.dropped != told_dropped_;
}

void FanoutSubscriber::refresh() {
  const std::lock_guard lock(mutex_);
  if (!push_mode()) {
    if (news_due())
      arrived_.notify_one();
    return;
  }
  for (const StreamEnd& end : std::exchange(ends_due_, {}))
    enqueue({.dropped = counts_.dropped, .ended = end});
  // At most one notice is under way, so a subscriber that never acknowledges costs no more.
  const bool room = counts_.outstanding < capacity_.frames;
  const bool declarations_due = catalog_->version() != told_version_;
  if (notices_in_flight_ == 0 && (declarations_due || (room && news_due())))
    enqueue({.dropped = counts_.dropped});
}

FanoutSubscriber::Item FanoutSubscriber::release_front() {
  Item front = std::move(items_.front());
  items_.pop_front();
  counts_.outstanding -= front.count;
  counts_.acknowledged += front.count;
  outstanding_bytes_ -= front.bytes;
  return front;
}

bool FanoutSubscriber::acknowledge(std::uint64_t sequence) {
  {
    const std::lock_guard lock(mutex_);
    if (!push_mode() || sequence > last_sequence_ || items_.empty() ||
        sequence < items_.front().sequence)
      return false;
    while (!items_.empty() && items_.front().sequence <= sequence)
      notices_in_flight_ -= release_front().count == 0 ? 1 : 0;
  }
  refresh();
  return true;
}

bool FanoutSubscriber::settled() const {
  const std::lock_guard lock(mutex_);
  return !push_mode() || (items_.empty() && ends_due_.empty());
}

void FanoutSubscriber::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  arrived_.notify_all();
}

SubscriberCounts FanoutSubscriber::leave() {
  std::unique_ptr<SubscriberSink> sink; // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  closed_ = true;
  counts_.abandoned += counts_.outstanding;
  counts_.outstanding = 0;
  outstanding_bytes_ = 0;
  items_.clear();
  told_version_ = catalog_->version();
  told_dropped_ = counts_.dropped;
  sink = std::move(sink_);
  arrived_.notify_all();
  return counts_;
}

std::optional<EventBatch> FanoutSubscriber::take() {
  if (!items_.empty()) {
    Item item = release_front();
    return make_event(item);
  }
  if (!news_due())
    return std::nullopt;
  Item notice{.dropped = counts_.dropped};
  return make_event(notice);
}

std::expected<EventBatch, RecvError> FanoutSubscriber::try_recv() {
  const std::lock_guard lock(mutex_);
  if (auto event = take())
    return *std::move(event);
  return std::unexpected(closed_ ? RecvError::disconnected : RecvError::empty);
}

std::expected<EventBatch, RecvError> FanoutSubscriber::recv(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  std::optional<EventBatch> event;
  arrived_.wait(lock, stop, [&] { return (event = take()) || closed_; });
  if (event)
    return *std::move(event);
  return std::unexpected(closed_ ? RecvError::disconnected : RecvError::stopped);
}

std::expected<EventBatch, RecvError>
FanoutSubscriber::recv_until(std::chrono::steady_clock::time_point deadline, std::stop_token stop) {
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
