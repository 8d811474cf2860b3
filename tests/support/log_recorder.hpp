#pragma once
/// What the library logs, for a test.

#include "replaced_log_sink.hpp"

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace datastream::test {

/// What is logged while it exists.
class LogRecorder {
public:
  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
  ReplacedLogSink sink_{[this](LogSeverity severity, std::string_view text) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::string(to_string(severity)) + ": " + std::string(text));
  }};
};

} // namespace datastream::test
