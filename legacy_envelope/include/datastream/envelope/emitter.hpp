#pragma once
/// The older way into a stream: a mux and a sink, without catalog and subscribers
/// (specification 4.1, 9.2).

#include <datastream/detail/record_buffer.hpp>
#include <datastream/model/frame.hpp>
#include <datastream/model/frame_batch.hpp>
#include <datastream/model/ids.hpp>
#include <datastream/pipe/mux.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace datastream {

/// Takes what an emitter drains.
class FrameSink {
public:
  virtual ~FrameSink() = default;
  /// One frame, valid during the call. Best effort: what cannot be sent on is lost, and a reader
  /// sees a gap. Called in the order of positions, on the thread that ticks: must not throw.
  virtual void ship(const StreamId& stream, const FrameView& frame) = 0;
};

/// Discards everything, for programs that emit into nothing.
class NoopSink final : public FrameSink {
public:
  void ship(const StreamId& /*stream*/, const FrameView& /*frame*/) override {}
};

struct EmitterConfig {
  NodeId node;
  Lifetime life = fresh_life();
  MuxOptions mux{};
};

/// A handle that submits to the stream of an emitter, as `DatastreamProducer` does to that of an
/// endpoint: never blocks, answers true when the payload was queued, and false when it was refused,
/// which is counted. Once the emitter has ended or is gone, everything is refused.
///
/// A compatibility surface: new code registers channels and submits on a `DatastreamProducer`.
/// There is no catalog, so the caller chooses the numbers of its channels.
///
/// Ownership: cheap to copy; may outlive the emitter.
/// Thread safety: every function may be called from any thread.
class DatastreamEventSink {
public:
  const StreamId& stream_id() const noexcept { return mux_->stream_id(); }

  /// Submits a record as JSON (`record.hpp`). Encodes into a buffer of the calling thread.
  template <class R>
  bool submit_record(ChannelId channel, const R& record) const noexcept {
    detail::RecordBuffer buffer;
    buffer.encode(record);
    return buffer.submit(*mux_, channel);
  }
  bool submit_text(ChannelId channel, std::string_view text) const noexcept {
    return mux_->submit(channel, text);
  }
  /// Takes the text over; a large one is not copied.
  bool submit_text_owned(ChannelId channel, std::string text) const noexcept {
    return mux_->submit_owned(channel, std::move(text));
  }
  bool submit_bytes(ChannelId channel, std::string_view bytes) const noexcept {
    return mux_->submit(channel, bytes);
  }

  /// Submissions that were refused, through any handle, in frames. Refused frames have no position.
  std::uint64_t dropped() const noexcept { return mux_->refused().total(); }

private:
  friend class DatastreamEmitter;
  explicit DatastreamEventSink(std::shared_ptr<Mux> mux) noexcept : mux_(std::move(mux)) {}
  std::shared_ptr<Mux> mux_;
};

/// Owns a stream whose frames go to one sink. Positions are given while draining. It has no thread
/// and no clock of its own: somebody calls `tick`.
///
///     DatastreamEmitter emitter{{.node = "node-a"}, std::make_shared<MySink>()};
///     emitter.submit_text(ChannelId{1}, "started");
///     emitter.tick();
///
/// A compatibility surface: new code uses `DatastreamEndpoint`, which has a catalog and any number
/// of subscribers. For process output, see `process_observer.hpp`.
///
/// Thread safety: `tick` and `end_stream` are called by one thread at a time, and not by the sink;
/// every other function may be called from any thread.
class DatastreamEmitter {
public:
  /// The sink must not be null.
  DatastreamEmitter(EmitterConfig config, std::shared_ptr<FrameSink> sink);
  /// Ends the stream.
  ~DatastreamEmitter();
  DatastreamEmitter(const DatastreamEmitter&) = delete;
  DatastreamEmitter& operator=(const DatastreamEmitter&) = delete;

  const StreamId& stream_id() const noexcept { return events_.stream_id(); }
  DatastreamEventSink event_sink() const { return events_; }

  /// As on `DatastreamEventSink`.
  template <class R>
  bool submit_record(ChannelId channel, const R& record) const noexcept {
    return events_.submit_record(channel, record);
  }
  bool submit_text(ChannelId channel, std::string_view text) const noexcept {
    return events_.submit_text(channel, text);
  }
  bool submit_text_owned(ChannelId channel, std::string text) const noexcept {
    return events_.submit_text_owned(channel, std::move(text));
  }
  bool submit_bytes(ChannelId channel, std::string_view bytes) const noexcept {
    return events_.submit_bytes(channel, bytes);
  }

  /// Drains what is queued and ships every frame of it. Returns the frames. What there is no memory
  /// for stays queued.
  std::size_t tick();
  /// Refuses submissions from now on, waits for those that are under way, and ships what was
  /// accepted. Idempotent.
  void end_stream();

  /// Positions given so far, in frames: all that was shipped.
  std::uint64_t assigned() const noexcept { return events_.mux_->assigned(); }
  /// As on `DatastreamEventSink`.
  std::uint64_t dropped() const noexcept { return events_.dropped(); }

private:
  const DatastreamEventSink events_;
  const std::shared_ptr<FrameSink> sink_;
  std::vector<FrameBatch> drained_; // empty between two ticks
};

} // namespace datastream
