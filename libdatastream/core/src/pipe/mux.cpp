#include <datastream/pipe/mux.hpp>

#include "refusal_counters.hpp"
#include "submission_ring.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

namespace datastream {

struct Mux::State {
  State(StreamId id, MuxOptions options)
      : stream(std::make_shared<const StreamId>(std::move(id))),
        ring(std::clamp<std::size_t>(options.frames, 1, defaults::mux_frames_max),
             std::min(options.bytes, std::size_t{1} << 40U)) {}

  /// Counts and wakes as an attempt to queue `offered` frames calls for. Returns whether all were
  /// accepted.
  bool settle(SubmissionRing::Outcome outcome, std::size_t offered) noexcept {
    if (outcome.accepted == offered && !outcome.wake) [[likely]]
      return true;
    return settle_rest(outcome, offered);
  }

  /// Apart, so that an ordinary submission pays nothing for it.
  [[gnu::noinline]] bool settle_rest(SubmissionRing::Outcome outcome,
                                     std::size_t offered) noexcept {
    bool wake = outcome.wake;
    if (outcome.accepted != offered) {
      refused.add(outcome.reason, offered - outcome.accepted);
      wake |= ring.take_over_call();
    }
    if (wake)
      call_waker();
    return outcome.accepted == offered;
  }

  /// Whoever finds a call under way, perhaps one of its own thread, leaves this one to it: so no
  /// producer waits for the waker of another one, and a waker may submit.
  void call_waker() noexcept {
    if (calls_due.fetch_add(1, std::memory_order_acq_rel) != 0)
      return;
    for (std::uint32_t due = 1; due != 0;) { // what falls due during a call is one more call
      try {
        const std::lock_guard lock(waker_mutex);
        if (waker)
          waker();
      } catch (...) {
        calls_due.store(0, std::memory_order_release);
        ring.call_failed(); // after that, so that what is left to this call is not forgotten
        return;
      }
      due = calls_due.fetch_sub(due, std::memory_order_acq_rel) - due;
    }
  }

  SubmissionRing::Outcome place(ChannelId channel, std::string_view payload) noexcept {
    if (payload.size() <= defaults::slab_payload_max) [[likely]]
      return ring.submit(channel, payload);
    return place_large(channel, payload);
  }

  [[gnu::noinline]] SubmissionRing::Outcome place_large(ChannelId channel,
                                                        std::string_view payload) noexcept {
    if (payload.size() > defaults::payload_bytes_max)
      return {.reason = LossReason::payload_too_large};
    if (const LossReason reason = ring.refusal(payload.size()); reason != LossReason{})
      return {.reason = reason};
    BlockPtr block = allocate_block(payload.size());
    if (block)
      std::memcpy(block->data(), payload.data(), payload.size());
    return place_block(channel, std::move(block));
  }

  SubmissionRing::Outcome place_block(ChannelId channel, BlockPtr block) noexcept {
    if (!block)
      return {.reason = LossReason::out_of_memory};
    return ring.submit_block(channel, std::move(block));
  }

  const std::shared_ptr<const StreamId> stream;
  SubmissionRing ring;
  RefusalCounters refused;
  alignas(128) std::mutex drain_mutex;
  std::atomic<std::uint64_t> next{0};      // written under drain_mutex
  std::atomic<std::uint32_t> calls_due{0}; // of the waker, the one under way included
  std::mutex waker_mutex;                  // guards the waker; held while it is called
  std::function<void()> waker;
};

Mux::Mux(StreamId stream, MuxOptions options)
    : state_(std::make_unique<State>(std::move(stream), options)) {}

Mux::~Mux() = default;

const StreamId& Mux::stream_id() const noexcept {
  return *state_->stream;
}

bool Mux::submit(ChannelId channel, std::string_view payload) noexcept {
  return state_->settle(state_->place(channel, payload), 1);
}

bool Mux::submit_owned(ChannelId channel, std::string payload) noexcept {
  // Would pin what nobody counts.
  const bool wasteful = payload.capacity() - payload.size() > payload.size();
  if (payload.size() <= defaults::slab_payload_max ||
      payload.size() > defaults::payload_bytes_max || wasteful)
    return submit(channel, payload);
  return state_->settle(state_->place_block(channel, adopt_string(std::move(payload))), 1);
}

std::size_t Mux::submit_many(ChannelId channel,
                             std::span<const std::string_view> payloads) noexcept {
  const auto is_large = [](std::string_view payload) {
    return payload.size() > defaults::slab_payload_max;
  };
  std::size_t accepted = 0;
  for (bool all = true; all && accepted < payloads.size();) {
    const auto rest = payloads.subspan(accepted);
    const auto next = rest.first(std::min(rest.size(), SubmissionRing::claimed_at_once));
    const auto small =
        next.first(static_cast<std::size_t>(std::ranges::find_if(next, is_large) - next.begin()));
    const auto part = small.empty() ? state_->place(channel, rest.front())
                                    : state_->ring.submit_many(channel, small);
    accepted += part.accepted;
    // Each part by itself: the drainer has to come while there are more. The rest shares a refusal.
    const bool complete = part.accepted == std::max<std::size_t>(small.size(), 1);
    all = state_->settle(part, complete ? part.accepted : rest.size());
  }
  return accepted;
}

bool Mux::refuse_out_of_memory() noexcept {
  return state_->settle({.reason = LossReason::out_of_memory}, 1);
}

std::size_t Mux::drain(std::vector<FrameBatch>& batches) {
  const std::lock_guard lock(state_->drain_mutex);
  std::uint64_t next = state_->next.load(std::memory_order_relaxed);
  struct Publish {
    std::atomic<std::uint64_t>& target;
    std::uint64_t& value;
    ~Publish() { target.store(value, std::memory_order_release); }
  } publish{state_->next, next}; // also when memory runs out half way
  return state_->ring.drain(state_->stream, next, batches).frames;
}

void Mux::set_waker(std::function<void()> waker) {
  const std::lock_guard lock(state_->waker_mutex);
  state_->waker.swap(waker); // the old one is destroyed with the argument, outside the lock
}

bool Mux::try_idle() noexcept {
  const std::lock_guard lock(state_->drain_mutex);
  return state_->ring.try_idle();
}

void Mux::wake() noexcept {
  if (state_->ring.leave_idle())
    state_->call_waker();
}

void Mux::stay_awake() noexcept {
  state_->ring.leave_idle();
}

void Mux::close() noexcept {
  state_->ring.close();
}

std::size_t Mux::queued() const noexcept {
  return state_->ring.queued();
}

std::uint64_t Mux::assigned() const noexcept {
  return state_->next.load(std::memory_order_acquire);
}

RefusedCounts Mux::refused() const noexcept {
  return state_->refused.sum();
}

} // namespace datastream
