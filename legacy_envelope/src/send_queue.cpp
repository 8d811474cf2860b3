#include "send_queue.hpp"
#include "deadline.hpp"
#include "failure.hpp"

#include <datastream/log_sink.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace datastream {

SendQueue::Offered SendQueue::offer(const FrameBatch& batch) noexcept {
  const std::lock_guard lock(mutex_);
  ledger_.offered += batch.size();
  std::size_t accepted = 0;
  std::uint64_t* loss = &ledger_.lost.send_queue_full;
  try {
    FrameBatch part = batch.prefix_within(bounds_.frames - std::min(bounds_.frames, ledger_.queued),
                                          bounds_.bytes - pinned_);
    accepted = part.size();
    if (accepted > 0) {
      const std::size_t pinned = part.pinned_bytes();
      batches_.push_back(std::move(part));
      pinned_ += pinned;
    }
  } catch (const std::bad_alloc&) {
    accepted = 0;
    loss = &ledger_.lost.out_of_memory;
  }
  *loss += batch.size() - accepted;
  accepted_ += accepted;
  ledger_.queued += accepted;
  return {accepted, accepted > 0 && std::exchange(asleep_, false)};
}

void SendQueue::not_woken() noexcept {
  const std::lock_guard lock(mutex_);
  asleep_ = true;
}

bool SendQueue::wake_due() noexcept {
  const std::lock_guard lock(mutex_);
  return !batches_.empty() && std::exchange(asleep_, false);
}

FrameBatch SendQueue::take() noexcept {
  FrameBatch batch;
  const std::lock_guard lock(mutex_);
  pinned_ -= std::exchange(taken_pinned_, 0);
  if (batches_.empty()) {
    asleep_ = true;
    return batch;
  }
  batch = std::move(batches_.front());
  batches_.pop_front();
  taken_pinned_ = batch.pinned_bytes();
  return batch;
}

void SendQueue::sent(std::size_t frames) noexcept {
  const std::lock_guard lock(mutex_);
  ledger_.sent += frames;
  settle(frames);
}

void SendQueue::lost(std::uint64_t SendLosses::* reason, std::size_t frames) noexcept {
  const std::lock_guard lock(mutex_);
  ledger_.lost.*reason += frames;
  settle(frames);
}

void SendQueue::settle(std::size_t frames) noexcept {
  ledger_.queued -= frames;
  settled_.notify_all();
}

void SendQueue::note(std::uint64_t SenderLedger::* event) noexcept {
  const std::lock_guard lock(mutex_);
  ++(ledger_.*event);
}

bool SendQueue::wait_until_settled(std::chrono::milliseconds deadline) {
  const auto limit = deadline_in(deadline);
  std::unique_lock lock(mutex_);
  const std::uint64_t before = accepted_;
  return settled_.wait_until(lock, limit, [&] { return accepted_ - ledger_.queued >= before; });
}

SenderLedger SendQueue::ledger() const {
  const std::lock_guard lock(mutex_);
  return ledger_;
}

std::expected<void, CarrierError> check_peer(const std::string& host, std::uint16_t port,
                                             const SendBounds& bounds) {
  if (host.empty()) // the resolver takes it for this machine
    return failure(CarrierError::Kind::bad_option, "a peer needs a host");
  if (port == 0)
    return failure(CarrierError::Kind::bad_option, "a peer's port cannot be 0");
  if (bounds.frames == 0 || bounds.bytes == 0)
    return failure(CarrierError::Kind::bad_option, "a queue without room for frames or bytes");
  return {};
}

void log_unsent(const std::string& sender, const SenderLedger& ledger) noexcept {
  if (ledger.queued == 0)
    return;
  try {
    log_message(LogSeverity::warning,
                sender + ": ends with " + std::to_string(ledger.queued) + " frames unsent");
  } catch (const std::bad_alloc&) { // there is no memory for the text
  }
}

} // namespace datastream
