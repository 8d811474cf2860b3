#pragma once
/// The single position authority of a stream (specification 4.4, 4.5).

#include <datastream/defaults.hpp>
#include <datastream/model/frame_batch.hpp>
#include <datastream/model/ledger.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace datastream {

struct MuxOptions {
  std::size_t frames = defaults::mux_frames; ///< clamped to 1 ... `defaults::mux_frames_max`
  /// Payload bytes, each payload rounded up to a multiple of 8 and to at least 8.
  std::size_t bytes = defaults::mux_bytes;
};

/// Queues what producers submit, and numbers it while it is drained.
///
/// Submitting waits for no drain and no other submission, allocates nothing in the steady state and
/// copies the payload once. Now and then it calls the waker, under a lock that is free but for the
/// moment in which `set_waker` exchanges it. What does not fit is refused before it has a position,
/// and counted by reason. If one submission returned before another began, its position is the
/// lower one, whichever threads they came from. Channel ids are not checked (invariant 12).
///
/// Thread safety: every function may be called from any thread. Drains exclude one another.
class Mux {
public:
  explicit Mux(StreamId stream, MuxOptions options = {});
  ~Mux();
  Mux(const Mux&) = delete;
  Mux& operator=(const Mux&) = delete;

  const StreamId& stream_id() const noexcept;

  /// Queues a copy of `payload`. False: refused and counted.
  bool submit(ChannelId channel, std::string_view payload) noexcept;
  /// Queues `payload`, without a copy when it is large and fills its string well. False: refused
  /// and counted; the string is gone either way.
  bool submit_owned(ChannelId channel, std::string payload) noexcept;
  /// Queues a prefix of `payloads`, in order and with one claim for many of them; the waker is
  /// called on the way, as often as they call for it. Returns the prefix's length; the payloads
  /// after it are refused and counted.
  std::size_t submit_many(ChannelId channel, std::span<const std::string_view> payloads) noexcept;
  /// Counts a submission whose payload found no memory before it came here. Returns false.
  bool refuse_out_of_memory() noexcept;

  /// Takes what was queued when it began, assigns the next positions, and appends the frames to
  /// `batches` in that order. Returns how many. A submission that is under way keeps those behind
  /// it back. Throws `std::bad_alloc`; what was not appended stays queued.
  std::size_t drain(std::vector<FrameBatch>& batches);

  /// Called by the next submission after `try_idle` returned true, and by each that fills a mux
  /// half, in frames or bytes; on the submitting thread, which waits for it, so it must be quick.
  /// One call at a time: those that fall due during a call are made as one, after it and by its
  /// thread. It may do anything with the mux, submit included, but call `set_waker`. If it throws,
  /// the next submission calls it again. Replacing it waits for a call that is under way.
  void set_waker(std::function<void()> waker);
  /// True: nothing is queued, and the waker will be called. False: drain again. From the drainer.
  bool try_idle() noexcept;
  /// Takes back a `try_idle` that returned true: the waker is not called.
  void stay_awake() noexcept;
  /// Calls the waker if the mux is idle.
  void wake() noexcept;

  /// Refuses every later submission with `stream_ended`. Idempotent.
  void close() noexcept;

  /// Frames accepted and not yet drained.
  std::size_t queued() const noexcept;
  /// Positions given out so far.
  std::uint64_t assigned() const noexcept;
  RefusedCounts refused() const noexcept;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace datastream
