#pragma once
/// What tests of processes share: a stream that is read, and an observer that records.

#include <eventually.hpp>

#include <datastream/hooks/process_output_observer.hpp>
#include <datastream/hooks/process_runner.hpp>
#include <datastream/pipe/endpoint.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace datastream::test {

/// A command that runs the tests' own program.
inline ProcessCommand child(std::vector<std::string> words, std::string label = "child") {
  words.insert(words.begin(), HOOK_CHILD);
  return {.argv = std::move(words), .label = std::move(label)};
}

/// A stream, and everything that arrives on it.
class CapturedStream {
public:
  explicit CapturedStream(MuxOptions mux = {})
      : endpoint_(StreamId{"node-a", {7}}, PipeOptions{.mux = mux}),
        reader_(endpoint_.subscribe("test", SubscriptionRequest::all(),
                                    {.frames = 1U << 20U, .bytes = 1U << 30U})) {}

  DatastreamEndpoint& endpoint() { return endpoint_; }
  DatastreamProducer producer() const { return endpoint_.producer(); }

  /// Frames so far, in order: the channel's name and the payload.
  const std::vector<std::pair<std::string, std::string>>& frames() {
    endpoint_.tick();
    for (const EventBatch& batch : reader_.drain_available())
      for (const FrameView& frame : batch.frames)
        frames_.emplace_back(batch.names.name(endpoint_.stream_id(), frame.channel), frame.payload);
    return frames_;
  }

  /// Payloads of one channel, joined.
  std::string text(std::string_view channel) {
    std::string out;
    for (const auto& [name, payload] : frames())
      if (name == channel)
        out += payload;
    return out;
  }

private:
  DatastreamEndpoint endpoint_;
  DatastreamSubscription reader_;
  std::vector<std::pair<std::string, std::string>> frames_;
};

/// Counts and checksums what it is told.
class RecordingObserver final : public ProcessOutputObserver {
public:
  struct Output {
    std::uint64_t bytes = 0;
    std::size_t largest_chunk = 0;
    std::uint64_t checksum = 14695981039346656037ULL; ///< FNV-1a

    void add(std::string_view data) {
      bytes += data.size();
      largest_chunk = std::max(largest_chunk, data.size());
      for (const char c : data)
        checksum = (checksum ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    }
  };

  void on_output(std::string_view label, bool is_stderr, std::string_view data) override {
    const std::lock_guard lock(mutex_);
    outputs_[{std::string(label), is_stderr}].add(data);
  }

  Output output(const std::string& label, bool is_stderr) const {
    const std::lock_guard lock(mutex_);
    const auto found = outputs_.find({label, is_stderr});
    return found == outputs_.end() ? Output{} : found->second;
  }

private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, bool>, Output> outputs_;
};

/// What `hook_child write` writes.
inline std::string written_bytes(std::size_t size) {
  std::string out;
  std::uint32_t state = 1;
  while (out.size() < size) {
    state = state * 1664525U + 1013904223U;
    out += static_cast<char>(state >> 24U);
  }
  return out;
}

} // namespace datastream::test
