#pragma once
/// Labels: the segment that names one process in channel names, `proc.LABEL.stdout`.

#include <datastream/hooks/process_error.hpp>
#include <datastream/model/ids.hpp>

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace datastream {

/// The label of a process: the one that was given, or else the last segment of its command's path;
/// in either case normalised to lower-case ASCII letters, digits, `-` and single inner `_`, with
/// `_` in the place of everything else. `/usr/bin/Python3.11` has `python3_11`.
/// Errors: `invalid_label` when nothing is left. A given label that is empty is not replaced.
std::expected<std::string, ProcessError> process_label(std::optional<std::string_view> given,
                                                       std::string_view command);

/// Keeps one label of one stream for one live process: nobody else in this operating system process
/// can reserve it until this object is destroyed.
///
/// Ownership: move-only. Thread safety: `reserve` and destruction, from any thread.
class ProcessLabelReservation {
public:
  /// Errors: `label_in_use`, naming the channel and the stream. `label` must be normalised.
  static std::expected<ProcessLabelReservation, ProcessError> reserve(const StreamId& stream,
                                                                      std::string label);

  ProcessLabelReservation(ProcessLabelReservation&& other) noexcept
      : key_(std::exchange(other.key_, std::nullopt)) {}
  ProcessLabelReservation& operator=(ProcessLabelReservation&&) = delete;
  ~ProcessLabelReservation();

private:
  using Key = std::pair<StreamId, std::string>;
  explicit ProcessLabelReservation(Key key) : key_(std::move(key)) {}

  std::optional<Key> key_;
};

} // namespace datastream
