#pragma once
/// A log sink for a while.

#include <datastream/log_sink.hpp>

#include <utility>

namespace datastream::test {

/// The log goes to this sink while it exists, and then to the one before again. What the sink
/// refers to must be made before it.
class ReplacedLogSink {
public:
  explicit ReplacedLogSink(LogSink sink) : before_(set_log_sink(std::move(sink))) {}
  ReplacedLogSink(const ReplacedLogSink&) = delete;
  ReplacedLogSink& operator=(const ReplacedLogSink&) = delete;
  ~ReplacedLogSink() { set_log_sink(std::move(before_)); }

private:
  LogSink before_;
};

} // namespace datastream::test
