#include <datastream/pipe/mux.hpp>

#include "submission_ring.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>

namespace datastream {

struct Mux::State {
  State(StreamId id, MuxOptions options)
      : stream(std::make_shared<const StreamId>(std::move(id))),
        ring(std::clamp<std::size_t>(options.frames, 1, defaults::mux_frames_max),
             std::min(options.bytes, std::size_t{1} << 40U)) {}

  /// Wakes and counts what an attempt to queue `offered` frames calls for.
  std::size_t settle(const SubmissionRing::Outcome& outcome, std::size_t offered) noexcept {
    if (outcome.wake)
      call_waker();
    if (outcome.accepted != offered) [[unlikely]]
      refused[static_cast<std::size_t>(outcome.reason)].fetch_add(offered - outcome.accepted,
                                                                  std::memory_order_relaxed);
    return outcome.accepted;
  }

  std::uint64_t refused_for(LossReason reason) const noexcept {
    return refused[static_cast<std::size_t>(reason)].load(std::memory_order_relaxed);
  }

  void call_waker() noexcept {
    const std::lock_guard lock(waker_mutex);
    if (waker)
      waker();
  }

  SubmissionRing::Outcome place(ChannelId channel, std::string_view payload) noexcept {
    if (payload.size() <= defaults::slab_payload_max) [[likely]]
      return ring.submit(channel, payload);
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
  alignas(128) std::array<std::atomic<std::uint64_t>, 6> refused{}; // by LossReason, 1 to 5
  alignas(128) std::mutex drain_mutex;
  std::atomic<std::uint64_t> next{0}; // written under drain_mutex
  std::mutex waker_mutex;             // for wake-ups only, never held while submitting or draining
  std::function<void()> waker;
};

Mux::Mux(StreamId stream, MuxOptions options)
    : state_(std::make_unique<State>(std::move(stream), options)) {}

Mux::~Mux() = default;

const StreamId& Mux::stream_id() const noexcept {
  return *state_->stream;
}

bool Mux::submit(ChannelId channel, std::string_view payload) noexcept {
  return state_->settle(state_->place(channel, payload), 1) == 1;
}

bool Mux::submit_owned(ChannelId channel, std::string payload) noexcept {
  const bool wasteful = payload.capacity() / 2 > payload.size(); // would pin what nobody counts
  if (payload.size() <= defaults::slab_payload_max ||
      payload.size() > defaults::payload_bytes_max || wasteful)
    return submit(channel, payload);
  return state_->settle(state_->place_block(channel, adopt_string(std::move(payload))), 1) == 1;
}

std::size_t Mux::submit_many(ChannelId channel,
                             std::span<const std::string_view> payloads) noexcept {
  const auto is_large = [](std::string_view payload) {
    return payload.size() > defaults::slab_payload_max;
  };
  SubmissionRing::Outcome total;
  while (total.accepted < payloads.size()) {
    const auto rest = payloads.subspan(total.accepted);
    const auto small =
        rest.first(static_cast<std::size_t>(std::ranges::find_if(rest, is_large) - rest.begin()));
    const auto part = small.empty() ? state_->place(channel, rest.front())
                                    : state_->ring.submit_many(channel, small);
    total.accepted += part.accepted;
    total.wake |= part.wake;
    if (part.accepted < std::max<std::size_t>(small.size(), 1)) {
      total.reason = part.reason;
      break;
    }
  }
  return state_->settle(total, payloads.size());
}

Mux::Drained Mux::drain(std::vector<FrameBatch>& batches) {
  const std::lock_guard lock(state_->drain_mutex);
  std::uint64_t next = state_->next.load(std::memory_order_relaxed);
  struct Publish {
    std::atomic<std::uint64_t>& target;
    std::uint64_t& value;
    ~Publish() { target.store(value, std::memory_order_release); }
  } publish{state_->next, next}; // also when memory runs out half way
  const auto drained = state_->ring.drain(state_->stream, next, batches);
  return {drained.frames, drained.stalled};
}

void Mux::set_waker(std::function<void()> waker) {
  const std::lock_guard lock(state_->waker_mutex);
  state_->waker = std::move(waker);
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

bool Mux::closed() const noexcept {
  return state_->ring.closed();
}

std::size_t Mux::queued() const noexcept {
  return state_->ring.queued();
}

std::uint64_t Mux::assigned() const noexcept {
  return state_->next.load(std::memory_order_acquire);
}

RefusedCounts Mux::refused() const noexcept {
  return {.mux_frames_full = state_->refused_for(LossReason::mux_frames_full),
          .mux_bytes_full = state_->refused_for(LossReason::mux_bytes_full),
          .stream_ended = state_->refused_for(LossReason::stream_ended),
          .payload_too_large = state_->refused_for(LossReason::payload_too_large),
          .out_of_memory = state_->refused_for(LossReason::out_of_memory)};
}

} // namespace datastream
