// Sends what a program logs through a producer: a sink for spdlog, or for any logger like it.
#include <datastream/pipe/endpoint.hpp>

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <iostream>
#include <memory>
#include <mutex>
#include <string_view>

namespace ds = datastream;

class StreamSink final : public spdlog::sinks::base_sink<std::mutex> {
public:
  explicit StreamSink(ds::DatastreamProducer out)
      : out_(std::move(out)), log_(out_.register_channel("program.log", ds::TextStream{})) {}

private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    out_.submit_text(log_, std::string_view(line.data(), line.size())); // never waits
  }
  void flush_() override {}

  ds::DatastreamProducer out_;
  ds::ChannelId log_;
};

int main() {
  ds::DatastreamEndpoint node{ds::StreamId{{"demo"}, {1}}};
  auto in = node.subscribe("reader");
  spdlog::logger log("program", std::make_shared<StreamSink>(node.producer()));
  log.set_pattern("%l: %v");
  log.info("started with {} arguments", 0);
  log.warn("and that was all");
  node.end_stream();
  while (const auto batch = in.recv())
    batch->each(
        [](const ds::FrameView& frame) { std::cout << frame.name << ' ' << frame.payload; });
}
