#pragma once
/// The member functions of `BasicSubmissionRing`, for whoever instantiates it.

#include "submission_ring.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <new>

namespace datastream {
namespace ring_detail {

inline constexpr std::uint64_t closed_bit = 1;
inline constexpr std::uint64_t idle_bit = 2;
inline constexpr unsigned frame_shift = 2;
inline constexpr unsigned unit_shift = 25;
inline constexpr std::uint64_t frame_max = (std::uint64_t{1} << (unit_shift - frame_shift)) - 1;
inline constexpr std::uint64_t unit_max = (std::uint64_t{1} << (64 - unit_shift)) - 1;
inline constexpr std::uint32_t never_stamped = ~0U; // no frame number: they have 23 bits

inline std::uint64_t frames_of(std::uint64_t word) noexcept {
  return (word >> frame_shift) & frame_max;
}

inline std::uint64_t units_of(std::uint64_t word) noexcept {
  return word >> unit_shift;
}

inline std::uint64_t pack(std::uint64_t units, std::uint64_t frames,
                          std::uint64_t flags = 0) noexcept {
  return ((units & unit_max) << unit_shift) | ((frames & frame_max) << frame_shift) | flags;
}

inline std::uint64_t units_for(std::size_t bytes) noexcept {
  return bytes ? (bytes + 7) / 8 : 1;
}

/// Zeroed memory that the system does not back with pages before they are used.
template <class T>
T* allocate_zeroed(std::size_t count) {
  void* memory = std::calloc(count, sizeof(T));
  if (!memory)
    throw std::bad_alloc();
  return static_cast<T*>(memory);
}

/// Turns a run of frames that lie in one slab into a batch: by reference when the run is at least
/// half of all that this pins, the slab's margin included, else as a copy of its own size.
inline FrameBatch finish_run(FrameBatchWriter&& writer,
                             const std::shared_ptr<const StreamId>& stream, Block* slab) {
  const auto headers = writer.headers();
  const std::size_t begin = headers.front().offset;
  const std::size_t end = headers.back().offset + headers.back().length;
  if ((end - begin) * 2 >= slab->capacity())
    return std::move(writer).finish(stream, BlockPtr::share(slab));
  BlockPtr block = allocate_block(end - begin);
  if (!block)
    throw std::bad_alloc();
  std::memcpy(block->data(), slab->data() + begin, end - begin);
  for (FrameHeader& header : headers)
    header.offset -= static_cast<std::uint32_t>(begin);
  return std::move(writer).finish(stream, std::move(block));
}

} // namespace ring_detail

using namespace ring_detail; // this header is private to the pipe

template <class Policy>
struct BasicSubmissionRing<Policy>::Claim {
  std::uint32_t frames = 0;
  std::uint64_t first_frame = 0;
  std::uint64_t first_unit = 0;
  bool wake = false;
  LossReason reason{};
};

template <class Policy>
BasicSubmissionRing<Policy>::BasicSubmissionRing(std::size_t capacity_frames,
                                                 std::size_t capacity_bytes)
    : capacity_frames_(capacity_frames),
      capacity_units_(std::max<std::size_t>(capacity_bytes / 8, 1)),
      half_frames_(capacity_frames_ < smallest_with_half ? 0 : capacity_frames_ / 2),
      half_units_(capacity_frames_ < smallest_with_half ? 0 : capacity_units_ / 2),
      frame_mask_(std::bit_ceil(capacity_frames) - 1),
      // one slab more than the capacity spans at most, so a place is free again before it is due
      slab_mask_(std::bit_ceil(capacity_units_ / slab_units + 3) - 1),
      descriptors_(allocate_zeroed<Descriptor>(frame_mask_ + 1)),
      own_blocks_(allocate_zeroed<Atomic<Block*>>(frame_mask_ + 1)),
      slabs_(std::make_unique<Atomic<Slab*>[]>(slab_mask_ + 1)) {
  // Frame 0 would look published in zeroed memory; all other slots meet their number later only.
  descriptors_[0].stamp.store(never_stamped, std::memory_order_relaxed);
}

template <class Policy>
BasicSubmissionRing<Policy>::~BasicSubmissionRing() {
  for (std::uint64_t i = 0; i <= slab_mask_; ++i)
    if (Slab* slab = slabs_[i].load(std::memory_order_acquire))
      slab->release();
  const std::uint64_t end = frames_of(tail_.load(std::memory_order_acquire));
  for (std::uint64_t f = frames_of(head_.load(std::memory_order_relaxed)); f != end;
       f = (f + 1) & frame_max)
    if (descriptors_[f & frame_mask_].offset == own_block)
      if (Block* block = own_blocks_[f & frame_mask_].load(std::memory_order_acquire))
        block->release();
}

template <class Policy>
auto BasicSubmissionRing<Policy>::ensure_slab(Atomic<Slab*>& place) noexcept -> Slab* {
  Slab* slab = place.load(std::memory_order_acquire);
  if (slab) [[likely]]
    return slab;
  Slab* fresh = Policy::take_slab();
  if (!fresh)
    return place.load(std::memory_order_acquire);
  if (place.compare_exchange_strong(slab, fresh, std::memory_order_acq_rel,
                                    std::memory_order_acquire))
    return fresh;
  fresh->release();
  return slab;
}

template <class Policy>
auto BasicSubmissionRing<Policy>::claim(const std::uint64_t* units, std::uint32_t frames,
                                        bool in_slab) noexcept -> Claim {
  std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  for (;;) {
    Claim claim;
    if (tail & closed_bit) {
      claim.reason = LossReason::stream_ended;
      return claim;
    }
    const std::uint64_t head = head_.load(std::memory_order_acquire);
    claim.first_frame = frames_of(tail);
    claim.first_unit = units_of(tail);
    const std::uint64_t used_frames = (claim.first_frame - frames_of(head)) & frame_max;
    const std::uint64_t used_units = (claim.first_unit - units_of(head)) & unit_max;
    std::uint64_t unit = claim.first_unit;
    for (; claim.frames < frames; ++claim.frames) {
      const std::uint64_t need = units[claim.frames];
      if (used_frames + claim.frames >= capacity_frames_) {
        claim.reason = LossReason::mux_frames_full;
        break;
      }
      if (used_units + (unit - claim.first_unit) + need > capacity_units_) {
        claim.reason = LossReason::mux_bytes_full;
        break;
      }
      if (in_slab && !ensure_slab(slab_place(unit))) {
        claim.reason = LossReason::out_of_memory;
        break;
      }
      unit += need;
    }
    if (claim.frames == 0) {
      // The head may have been read long before the tail was: refuse only what is full now.
      const std::uint64_t now = tail_.load(std::memory_order_relaxed);
      if (now == tail)
        return claim;
      tail = now;
      continue;
    }
    if (tail_.compare_exchange_weak(tail, pack(unit, claim.first_frame + claim.frames),
                                    std::memory_order_relaxed)) {
      claim.wake =
          (tail & idle_bit) != 0 ||
          (used_frames < half_frames_ && used_frames + claim.frames >= half_frames_) ||
          (used_units < half_units_ && used_units + (unit - claim.first_unit) >= half_units_);
      return claim;
    }
  }
}

template <class Policy>
void BasicSubmissionRing<Policy>::write(std::uint64_t frame, std::uint64_t unit, ChannelId channel,
                                        std::string_view payload) noexcept {
  // The slab was there when room was claimed, and stays until the consumer has passed this frame.
  Slab* slab = slab_place(unit).load(std::memory_order_relaxed);
  const auto offset = static_cast<std::uint32_t>((unit % slab_units) * 8);
  if (!payload.empty())
    std::memcpy(slab->data() + offset, payload.data(), payload.size());
  Descriptor& descriptor = descriptors_[frame & frame_mask_];
  descriptor.channel = channel.value;
  descriptor.length = static_cast<std::uint32_t>(payload.size());
  descriptor.offset = offset;
  descriptor.stamp.store(static_cast<std::uint32_t>(frame), std::memory_order_release);
}

template <class Policy>
auto BasicSubmissionRing<Policy>::submit(ChannelId channel, std::string_view payload) noexcept
    -> Outcome {
  const std::uint64_t units = units_for(payload.size());
  const Claim claimed = claim(&units, 1, true);
  if (claimed.frames)
    write(claimed.first_frame, claimed.first_unit, channel, payload);
  return {claimed.frames, claimed.reason, claimed.wake};
}

template <class Policy>
auto BasicSubmissionRing<Policy>::submit_block(ChannelId channel, BlockPtr block) noexcept
    -> Outcome {
  const auto length = static_cast<std::uint32_t>(block->capacity());
  const std::uint64_t units = units_for(length);
  const Claim claimed = claim(&units, 1, false);
  if (claimed.frames) {
    const std::uint64_t slot = claimed.first_frame & frame_mask_;
    own_blocks_[slot].store(block.detach(), std::memory_order_relaxed);
    Descriptor& descriptor = descriptors_[slot];
    descriptor.channel = channel.value;
    descriptor.length = length;
    descriptor.offset = own_block;
    descriptor.stamp.store(static_cast<std::uint32_t>(claimed.first_frame),
                           std::memory_order_release);
  }
  return {claimed.frames, claimed.reason, claimed.wake};
}

template <class Policy>
auto BasicSubmissionRing<Policy>::submit_many(ChannelId channel,
                                              std::span<const std::string_view> payloads) noexcept
    -> Outcome {
  assert(payloads.size() <= claimed_at_once);
  std::uint64_t units[claimed_at_once];
  for (std::size_t i = 0; i < payloads.size(); ++i)
    units[i] = units_for(payloads[i].size());
  const Claim claimed = claim(units, static_cast<std::uint32_t>(payloads.size()), true);
  std::uint64_t unit = claimed.first_unit;
  for (std::size_t i = 0; i < claimed.frames; ++i) {
    write((claimed.first_frame + i) & frame_max, unit & unit_max, channel, payloads[i]);
    unit += units[i];
  }
  return {claimed.frames, claimed.reason, claimed.wake};
}

template <class Policy>
void BasicSubmissionRing<Policy>::pass(std::uint64_t from_unit, std::uint64_t to_unit) noexcept {
  const std::uint64_t span = (to_unit - from_unit) & unit_max;
  std::uint64_t left = (from_unit % slab_units + span) / slab_units;
  for (std::uint64_t unit = from_unit; left > 0; --left, unit += slab_units)
    if (Slab* slab = slab_place(unit & unit_max).exchange(nullptr, std::memory_order_acq_rel))
      slab->release();
}

template <class Policy>
auto BasicSubmissionRing<Policy>::drain(const std::shared_ptr<const StreamId>& stream,
                                        std::uint64_t& next, std::vector<FrameBatch>& batches)
    -> Drained {
  Drained drained;
  const std::uint64_t head = head_.load(std::memory_order_relaxed);
  const std::uint64_t tail = tail_.load(std::memory_order_acquire);
  const std::uint64_t end = frames_of(tail);
  std::uint64_t frame = frames_of(head);
  std::uint64_t unit = units_of(head);

  while (frame != end && !drained.stalled) {
    if (batches.size() == batches.capacity())
      batches.reserve(2 * batches.size() + 8); // so that keeping a batch cannot fail
    const std::uint64_t run_begin_unit = unit;
    Descriptor& first = descriptors_[frame & frame_mask_];
    if (first.stamp.load(std::memory_order_acquire) != frame) {
      drained.stalled = true;
      break;
    }
    std::uint64_t run_frame = frame;
    if (first.offset == own_block) {
      FrameBatchWriter writer{1};
      Block* block = own_blocks_[frame & frame_mask_].load(std::memory_order_relaxed);
      writer.append({Position{next}, ChannelId{first.channel}, 0, first.length});
      batches.push_back(std::move(writer).finish(stream, BlockPtr::adopt(block)));
      unit = (unit + units_for(first.length)) & unit_max;
      run_frame = (frame + 1) & frame_max;
      ++next;
      ++drained.frames;
    } else {
      const std::uint64_t slab_number = unit / slab_units;
      const std::uint64_t claimed = (end - frame) & frame_max;
      FrameBatchWriter writer{std::min<std::uint64_t>(claimed, defaults::batch_frames)};
      while (run_frame != end && !writer.full() && unit / slab_units == slab_number) {
        Descriptor& descriptor = descriptors_[run_frame & frame_mask_];
        if (descriptor.stamp.load(std::memory_order_acquire) != run_frame) {
          drained.stalled = true;
          break;
        }
        if (descriptor.offset == own_block)
          break;
        writer.append({Position{next + writer.size()}, ChannelId{descriptor.channel},
                       descriptor.offset, descriptor.length});
        unit = (unit + units_for(descriptor.length)) & unit_max;
        run_frame = (run_frame + 1) & frame_max;
      }
      const std::size_t count = writer.size();
      batches.push_back(finish_run(std::move(writer), stream,
                                   slab_place(run_begin_unit).load(std::memory_order_relaxed)));
      next += count;
      drained.frames += count;
    }
    // From here on the run belongs to the batch; what fails later leaves later frames queued.
    pass(run_begin_unit, unit);
    frame = run_frame;
    head_.store(pack(unit, frame), std::memory_order_release);
  }
  // Producers find the slab that they will need next in place, and warm.
  if (drained.frames)
    ensure_slab(slab_place((units_of(tail) + slab_units) & unit_max));
  return drained;
}

template <class Policy>
bool BasicSubmissionRing<Policy>::try_idle() noexcept {
  std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  const std::uint64_t head = head_.load(std::memory_order_relaxed);
  while (frames_of(tail) == frames_of(head))
    if ((tail & idle_bit) ||
        tail_.compare_exchange_weak(tail, tail | idle_bit, std::memory_order_acq_rel,
                                    std::memory_order_relaxed))
      return true;
  return false;
}

template <class Policy>
bool BasicSubmissionRing<Policy>::leave_idle() noexcept {
  return (tail_.fetch_and(~idle_bit, std::memory_order_acq_rel) & idle_bit) != 0;
}

template <class Policy>
void BasicSubmissionRing<Policy>::call_failed() noexcept {
  // Frames may be queued in this idle state; `try_idle` looks at them, and not at the bit alone.
  tail_.fetch_or(idle_bit, std::memory_order_acq_rel);
}

template <class Policy>
bool BasicSubmissionRing<Policy>::take_over_call() noexcept {
  const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  return (tail & idle_bit) != 0 &&
         frames_of(tail) != frames_of(head_.load(std::memory_order_relaxed)) && leave_idle();
}

template <class Policy>
LossReason BasicSubmissionRing<Policy>::refusal(std::size_t bytes) const noexcept {
  const std::uint64_t units = units_for(bytes);
  std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint64_t head = head_.load(std::memory_order_acquire);
    LossReason reason{};
    if (tail & closed_bit)
      return LossReason::stream_ended;
    if (((frames_of(tail) - frames_of(head)) & frame_max) >= capacity_frames_)
      reason = LossReason::mux_frames_full;
    else if (((units_of(tail) - units_of(head)) & unit_max) + units > capacity_units_)
      reason = LossReason::mux_bytes_full;
    if (reason == LossReason{})
      return reason;
    const std::uint64_t now = tail_.load(std::memory_order_relaxed); // as in `claim`
    if (now == tail)
      return reason;
    tail = now;
  }
}

template <class Policy>
void BasicSubmissionRing<Policy>::close() noexcept {
  tail_.fetch_or(closed_bit, std::memory_order_acq_rel);
}

template <class Policy>
std::size_t BasicSubmissionRing<Policy>::queued() const noexcept {
  const std::uint64_t head = head_.load(std::memory_order_acquire);
  const std::uint64_t tail = tail_.load(std::memory_order_acquire);
  return static_cast<std::size_t>((frames_of(tail) - frames_of(head)) & frame_max);
}

} // namespace datastream
