#pragma once
/// Process output as frames of a stream (specification 4.3).

#include <datastream/hooks/process_output_observer.hpp>
#include <datastream/model/ids.hpp>
#include <datastream/pipe/producer.hpp>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <mutex>
#include <string_view>

namespace datastream {

/// What was submitted on one channel.
struct SubmissionCounts {
  std::uint64_t accepted_frames = 0;
  std::uint64_t accepted_bytes = 0;
  std::uint64_t refused_frames = 0; ///< dropped: the mux was full, or the stream has ended
  std::uint64_t refused_bytes = 0;

  SubmissionCounts& operator+=(const SubmissionCounts& more) noexcept;
  friend bool operator==(const SubmissionCounts&, const SubmissionCounts&) = default;
};

/// Submits each chunk as one frame, on the channel that a function of the caller names. What the
/// mux refuses is dropped and counted; the process is never held up.
///
///     const ChannelId text = producer.register_channel("app.children", TextStream{});
///     auto observer = std::make_shared<ProducerOutputObserver>(
///         producer, [text](std::string_view, bool) { return text; });
///
/// For channels named after each process, see `ProcessChannels`.
///
/// Thread safety: every function may be called from any thread; so must `route` be.
class ProducerOutputObserver final : public ProcessOutputObserver {
public:
  /// (label, is_stderr) -> a registered channel. Called for each chunk, on the thread that has read
  /// it: must not block, must not throw.
  using Route = std::function<ChannelId(std::string_view label, bool is_stderr)>;

  /// `channels`: some that the route leads to. The first chunk of any other one needs memory for
  /// its counts; `on_output` throws `std::bad_alloc` when there is none, and has submitted nothing.
  ProducerOutputObserver(DatastreamProducer producer, Route route,
                         std::initializer_list<ChannelId> channels = {});

  void on_output(std::string_view label, bool is_stderr, std::string_view data) override;

  /// What was submitted on this channel; zeros for a channel that nothing was routed to.
  SubmissionCounts counts(ChannelId channel) const;
  /// The same for every channel that something was routed to.
  std::map<ChannelId, SubmissionCounts> counts() const;

private:
  const DatastreamProducer producer_;
  const Route route_;
  mutable std::mutex mutex_; // taken alone
  std::map<ChannelId, SubmissionCounts> counts_;
};

} // namespace datastream
