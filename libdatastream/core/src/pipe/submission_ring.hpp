#pragma once
/// The bounded queue between producers and the drainer.

#include "slab_pool.hpp"

#include <datastream/model/frame_batch.hpp>
#include <datastream/model/loss_reason.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace datastream {

/// What a ring is made of. Tests put it together from parts that they control.
struct RingPolicy {
  template <class T>
  using Atomic = std::atomic<T>;
  using Slab = datastream::Slab;
  /// A slab with one reference; null when there is no memory.
  static Slab* take_slab() noexcept { return SlabPool::take(); }
  /// Payload bytes that begin in one slab.
  static constexpr std::size_t slab_bytes = defaults::slab_bytes;
};

/// A multi-producer, single-consumer queue of payloads, bounded exactly in frames and in bytes,
/// that keeps causal order: if one submission returned before another began, its frame comes first.
///
/// One 64-bit word, the tail, holds everything that a claim decides on:
///
///     units claimed : 39 | frames claimed : 23 | idle : 1 | closed : 1
///
/// so that one compare-and-swap claims room in both bounds, notices that the ring is closed, and
/// takes over the duty to wake an idle consumer. A unit is 8 bytes; a payload takes its length
/// rounded up to units, at least one. The head, kept in the same form, is the consumer's.
///
/// Units are addresses in a virtual byte sequence. Slab `u / slab_units` holds the payloads that
/// begin there; a table maps the slabs in use to memory. Whoever is about to claim makes sure that
/// the slab is there before claiming, so a claim never has to wait for memory. The consumer hands
/// the very bytes on: batches refer to slabs, and a slab goes back to the pool when the last
/// batch that refers to it is gone. Payloads above `defaults::slab_payload_max` travel as blocks of
/// their own, charged to the same sequence.
///
/// Producers call the consumer on two occasions: when it was idle, and when a claim fills the ring
/// half, so that a consumer that comes by the clock comes in time. (Rings of a few frames do not.)
/// A call that fails leaves its duty to the next submission, be it refused or not.
///
/// A claimed frame becomes visible through its descriptor's stamp (the low bits of its number),
/// stored with release order once the payload is written. No fences are used.
///
/// Thread safety: `drain` and `try_idle` from one thread at a time; all others from any thread.
template <class Policy>
class BasicSubmissionRing {
public:
  BasicSubmissionRing(std::size_t capacity_frames, std::size_t capacity_bytes);
  ~BasicSubmissionRing();
  BasicSubmissionRing(const BasicSubmissionRing&) = delete;
  BasicSubmissionRing& operator=(const BasicSubmissionRing&) = delete;

  /// What became of a submission.
  struct Outcome {
    std::uint32_t accepted = 0; ///< frames; 0 or 1 for a single submission
    LossReason reason{};        ///< why the first frame that was not accepted was not
    bool wake = false;          ///< the caller has to call the consumer: see `BasicSubmissionRing`
  };

  Outcome submit(ChannelId channel, std::string_view payload) noexcept;
  /// Takes over a payload above `defaults::slab_payload_max`; `block` holds just the payload.
  Outcome submit_block(ChannelId channel, BlockPtr block) noexcept;
  /// Payloads that one claim is made for: bounds the stack, and the burst in which one producer
  /// keeps the others out.
  static constexpr std::size_t claimed_at_once = 64;
  /// Claims room for a prefix of at most so many payloads, none above `defaults::slab_payload_max`.
  Outcome submit_many(ChannelId channel, std::span<const std::string_view> payloads) noexcept;

  struct Drained {
    std::size_t frames = 0;
    bool stalled = false; ///< stopped at a frame that is claimed and not yet written
  };
  /// Takes the frames that were claimed when it began, numbers them from `next`, and appends them
  /// to `batches`. Throws `std::bad_alloc` when there is no memory; the frames not yet taken stay.
  Drained drain(const std::shared_ptr<const StreamId>& stream, std::uint64_t& next,
                std::vector<FrameBatch>& batches);

  /// True: nothing is queued, and the next submission is told to wake the consumer.
  /// False: there is work, or a claim in flight.
  bool try_idle() noexcept;
  /// Ends an idle state without a submission. Returns whether there was one to end.
  bool leave_idle() noexcept;
  /// The call that an outcome asked for has failed: the next submission is told to make it.
  void call_failed() noexcept;
  /// For a submission that was refused, and so was told nothing: takes over a call that has failed
  /// while frames wait for it. Returns whether there was one.
  bool take_over_call() noexcept;

  /// Would a payload of this size be refused right now? Spares the caller the copy of a large one.
  LossReason refusal(std::size_t bytes) const noexcept;

  /// Refuses everything from now on. Claims in flight are still completed.
  void close() noexcept;
  /// Frames claimed and not yet drained.
  std::size_t queued() const noexcept;

private:
  template <class T>
  using Atomic = typename Policy::template Atomic<T>;
  using Slab = typename Policy::Slab;

  struct Descriptor {
    Atomic<std::uint32_t> stamp;
    std::uint32_t channel;
    std::uint32_t length;
    std::uint32_t offset; // in the slab; `own_block` for a payload with a block of its own
  };
  static constexpr std::uint32_t own_block = ~0U;
  /// A ring of fewer frames is half full all the time: it does not call for that.
  static constexpr std::uint64_t smallest_with_half = 64;
  static constexpr std::uint64_t slab_units = Policy::slab_bytes / 8;

  struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };

  struct Claim;
  [[gnu::always_inline]] inline Claim claim(const std::uint64_t* units, std::uint32_t frames,
                                            bool in_slab) noexcept;
  Slab* ensure_slab(Atomic<Slab*>& place) noexcept;
  void write(std::uint64_t frame, std::uint64_t unit, ChannelId channel,
             std::string_view payload) noexcept;
  void pass(std::uint64_t from_unit, std::uint64_t to_unit) noexcept;
  Atomic<Slab*>& slab_place(std::uint64_t unit) noexcept {
    return slabs_[(unit / slab_units) & slab_mask_];
  }

  const std::uint64_t capacity_frames_;
  const std::uint64_t capacity_units_;
  const std::uint64_t half_frames_; // 0: no calls
  const std::uint64_t half_units_;
  const std::uint64_t frame_mask_;
  const std::uint64_t slab_mask_;
  std::unique_ptr<Descriptor[], Free> descriptors_;
  std::unique_ptr<Atomic<Block*>[], Free> own_blocks_;
  std::unique_ptr<Atomic<Slab*>[]> slabs_;

  static constexpr std::size_t line = 128; // two cache lines: the prefetcher fetches pairs
  alignas(line) Atomic<std::uint64_t> tail_{0};
  alignas(line) Atomic<std::uint64_t> head_{0};
};

using SubmissionRing = BasicSubmissionRing<RingPolicy>;
extern template class BasicSubmissionRing<RingPolicy>; // in submission_ring.cpp

} // namespace datastream
