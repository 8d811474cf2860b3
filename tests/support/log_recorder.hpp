#pragma once
/// What the library logs, for a test.

#include <datastream/log_sink.hpp>

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace datastream::test {

/// What is logged while it exists.
class LogRecorder {
public:
  LogRecorder()
      : before_(set_log_sink([this](LogSeverity severity, std::string_view text) {
          const std::lock_guard lock(mutex_);
          lines_.push_back(std::string(to_string(severity)) + ": " + std::string(text));
        })) {}
  LogRecorder(const LogRecorder&) = delete;
  LogRecorder& operator=(const LogRecorder&) = delete;
  ~LogRecorder() { set_log_sink(std::move(before_)); }

  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
  LogSink before_;
};

} // namespace datastream::test
