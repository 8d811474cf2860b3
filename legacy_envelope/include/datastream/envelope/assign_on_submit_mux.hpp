#pragma once
/// The older mux, whose positions are taken by submitting.

#include <datastream/defaults.hpp>
#include <datastream/model/frame.hpp>
#include <datastream/model/frame_batch.hpp>
#include <datastream/model/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace datastream {

/// Numbers what is submitted at once, and queues it until it is drained.
///
/// A compatibility surface, for programs that need a frame's position when they submit it. New code
/// uses `DatastreamEndpoint`, whose mux numbers while it is drained, takes no lock, and is bounded
/// in bytes.
///
/// A frame that is dropped has its position already: readers see a gap between the frames around
/// it, and nothing is numbered again. Positions and queue have one order, so that batches ascend;
/// if one submission returned before another began, its position is the lower one.
///
/// The bound is in frames only: a frame may have up to `defaults::payload_bytes_max` bytes.
///
/// Thread safety: every function may be called from any thread. Drains exclude one another;
/// submissions wait for each other, and for no drain longer than it takes to swap two queues.
class AssignOnSubmitMux {
public:
  /// Holds up to `frames` frames that wait for a drain; perhaps none at all.
  explicit AssignOnSubmitMux(StreamId stream, std::size_t frames = defaults::mux_frames);
  /// Holds as many as there is memory for.
  static AssignOnSubmitMux unbounded(StreamId stream);
  AssignOnSubmitMux(const AssignOnSubmitMux&) = delete;
  AssignOnSubmitMux& operator=(const AssignOnSubmitMux&) = delete;

  const StreamId& stream_id() const noexcept { return *stream_; }

  /// Takes the next position and queues the payload under it. The frame is dropped, and counted,
  /// when the queue is full, when the payload is larger than `defaults::payload_bytes_max`, or when
  /// there is no memory; the position is taken all the same.
  Position submit(ChannelId channel, std::string payload) noexcept;

  /// Appends what was queued when it began to `batches`, in the order of positions. Returns the
  /// frames. Copies the payloads. Throws `std::bad_alloc`; what was not appended comes first in the
  /// next drain, and no longer counts against the bound.
  std::size_t drain(std::vector<FrameBatch>& batches);

  /// Positions taken so far: one for each submission. Once drained, it is what all drains together
  /// have returned and what was dropped.
  std::uint64_t assigned() const;
  /// Frames dropped so far, each a position that no drain returns.
  std::uint64_t dropped() const;

private:
  std::size_t append_taken(std::vector<FrameBatch>& batches);

  const std::shared_ptr<const StreamId> stream_;
  const std::size_t capacity_;

  std::mutex drain_mutex_;   // before mutex_
  std::deque<Frame> taken_;  // under drain_mutex_
  mutable std::mutex mutex_; // positions and queue change together
  std::deque<Frame> queue_;
  std::uint64_t next_ = 0;
  std::uint64_t dropped_ = 0;
};

} // namespace datastream
