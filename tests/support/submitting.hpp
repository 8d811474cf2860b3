#pragma once
/// A thread that emits.

#include <datastream/pipe/producer.hpp>

#include <cstdint>
#include <stop_token>
#include <thread>
#include <utility>

namespace datastream::test {

/// Submits until it is stopped, and counts what it was told. Read the counts once it has stopped.
class Submitting {
public:
  explicit Submitting(DatastreamProducer out)
      : out_(std::move(out)), thread_([this](const std::stop_token& stop) {
          while (!stop.stop_requested())
            for (int i = 0; i < 10; ++i)
              ++(out_.submit_text(ChannelId{1}, "text") ? accepted : refused);
        }) {}
  void stop() {
    thread_.request_stop();
    if (thread_.joinable())
      thread_.join();
  }
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;

private:
  DatastreamProducer out_;
  std::jthread thread_; // last: it uses all the others
};

} // namespace datastream::test
