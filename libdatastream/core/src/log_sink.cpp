#include <datastream/log_sink.hpp>

#include <cstdio>
#include <mutex>
#include <string>
#include <utility>

namespace datastream {
namespace {

void write_to_standard_error(LogSeverity severity, std::string_view text) {
  std::string line = "datastream: ";
  line.append(to_string(severity)).append(": ").append(text).append("\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
}

/// Never destroyed: actors may log while the program ends.
struct Log {
  std::mutex mutex;
  LogSink sink = write_to_standard_error;
};
Log& the_log() {
  static auto* const log = new Log;
  return *log;
}

} // namespace

std::string_view to_string(LogSeverity severity) {
  switch (severity) {
  case LogSeverity::info:
    return "info";
  case LogSeverity::warning:
    return "warning";
  case LogSeverity::error:
    return "error";
  }
  return "unknown";
}

LogSink set_log_sink(LogSink sink) {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  return std::exchange(log.sink, std::move(sink));
}

void log_message(LogSeverity severity, std::string_view text) noexcept {
  try {
    Log& log = the_log();
    const std::lock_guard lock(log.mutex);
    if (log.sink)
      log.sink(severity, text);
  } catch (...) { // NOLINT(bugprone-empty-catch): a sink that fails has nobody to tell
  }
}

} // namespace datastream
