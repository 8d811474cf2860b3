#include <datastream/envelope/process_observer.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace datastream;

namespace {

class KeepingSink final : public FrameSink {
public:
  void ship(const StreamId&, const FrameView& frame) override {
    frames.push_back(frame.to_frame());
  }
  std::vector<Frame> frames;
};

} // namespace

TEST_CASE("output_of_processes_becomes_frames_of_an_emitter_on_the_callers_channels") {
  const auto sink = std::make_shared<KeepingSink>();
  DatastreamEmitter emitter{{.node = "node-a", .mux = {.frames = 3}}, sink};
  const std::shared_ptr<ProcessOutputObserver> observer =
      process_observer(emitter.event_sink(), [](std::string_view label, bool is_stderr) {
        return ChannelId{label == "worker" && is_stderr ? 2U : 1U};
      });
  const std::string bytes("\xff\0\n", 3);
  observer->on_output("worker", false, "one");
  observer->on_output("worker", true, bytes);
  observer->on_output("other", true, "two");
  observer->on_output("other", true, "dropped");
  CHECK(emitter.dropped() == 1);
  emitter.tick();
  CHECK(sink->frames ==
        std::vector<Frame>{{{1}, {0}, "one"}, {{2}, {1}, bytes}, {{1}, {2}, "two"}});

  emitter.end_stream();
  observer->on_output("worker", false, "late");
  CHECK(emitter.dropped() == 2);
}
