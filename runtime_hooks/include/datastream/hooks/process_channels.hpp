#pragma once
/// The channels of one process.

#include <datastream/hooks/process_error.hpp>
#include <datastream/hooks/process_event.hpp>
#include <datastream/hooks/process_label.hpp>
#include <datastream/hooks/process_output_observer.hpp>
#include <datastream/hooks/producer_output_observer.hpp>
#include <datastream/model/ids.hpp>
#include <datastream/pipe/producer.hpp>

#include <atomic>
#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace datastream {

/// What was submitted for one process.
struct ProcessCounts {
  SubmissionCounts standard_output;
  SubmissionCounts standard_error;
  SubmissionCounts lifecycle;

  ProcessCounts& operator+=(const ProcessCounts& more) noexcept;
  friend bool operator==(const ProcessCounts&, const ProcessCounts&) = default;
};

/// The three channels of one process: its output on `proc.LABEL.stdout` and `proc.LABEL.stderr`
/// (`TextStream`: chunks as they were read), and what happens to it on `proc.LABEL.lifecycle`
/// (`JsonRecord`). `ProcessRunner` opens one for each of its processes; open one yourself if you
/// run processes in a way of your own.
///
/// The label is reserved from `open` until `close` or destruction.
/// Thread safety: every function may be called from any thread.
class ProcessChannels final : public ProcessOutputObserver {
public:
  /// Reserves the label, normalised as by `process_label`, and registers the channels. With an
  /// `output` of your own, chunks go there, and only the lifecycle channel is registered.
  /// Errors: `invalid_label`, `label_in_use`, `channel_refused`.
  static std::expected<std::shared_ptr<ProcessChannels>, ProcessError>
  open(const DatastreamProducer& producer, std::string_view label,
       std::shared_ptr<ProcessOutputObserver> output = nullptr);

  const std::string& label() const noexcept { return label_; }

  /// One chunk of this process, whatever the label says.
  void on_output(std::string_view label, bool is_stderr, std::string_view data) override;
  /// Submits the event's record. For want of memory it may have no bytes: it is then counted as a
  /// refused frame without any.
  void publish(const ProcessEvent& event) noexcept;

  /// Lets go of the label: the process has ended. Idempotent.
  void close();

  /// Those of output are zero when it goes to an observer of the caller.
  ProcessCounts counts() const;

private:
  struct Output {
    std::shared_ptr<ProcessOutputObserver> observer;
    std::shared_ptr<ProducerOutputObserver> ours; ///< null: the caller's
    ChannelId standard_output;
    ChannelId standard_error;
  };

  static std::expected<Output, CatalogError> open_output(const DatastreamProducer& producer,
                                                         const std::string& label);
  ProcessChannels(std::string label, ProcessLabelReservation reservation,
                  const DatastreamProducer& producer, ChannelId lifecycle, Output output);

  const std::string label_;
  const ChannelId lifecycle_channel_;
  ProducerOutputObserver lifecycle_;
  const Output output_;
  std::atomic<std::uint64_t> unwritten_{0}; // lifecycle records that found no memory
  std::mutex mutex_;                        // taken alone
  std::optional<ProcessLabelReservation> reservation_;
};

} // namespace datastream
