#include "captured.hpp"

#include <datastream/hooks/process_channels.hpp>

#include <doctest/doctest.h>

using namespace datastream;
using namespace datastream::test;

namespace {

ChannelContent content_of(CapturedStream& stream, std::string_view name) {
  const auto channel =
      stream.endpoint().catalog()->find_channel(stream.endpoint().stream_id(), name);
  REQUIRE(channel);
  return channel->content;
}

} // namespace

TEST_CASE("a_process_has_two_text_channels_and_a_lifecycle_channel") {
  CapturedStream stream;
  const auto channels = ProcessChannels::open(stream.producer(), "GPU Trainer");
  REQUIRE(channels);
  CHECK((*channels)->label() == "gpu_trainer");
  CHECK(content_of(stream, "proc.gpu_trainer.stdout") == ChannelContent{TextStream{}});
  CHECK(content_of(stream, "proc.gpu_trainer.stderr") == ChannelContent{TextStream{}});
  CHECK(content_of(stream, "proc.gpu_trainer.lifecycle") ==
        ChannelContent{JsonRecord{"swactor_process.lifecycle.v1"}});

  (*channels)->publish(ProcessStarted{42});
  (*channels)->on_output("ignored", false, "out");
  (*channels)->on_output("ignored", true, "error");
  using Frames = std::vector<std::pair<std::string, std::string>>;
  CHECK(stream.frames() == Frames{{"proc.gpu_trainer.lifecycle", R"({"event":"started","pid":42})"},
                                  {"proc.gpu_trainer.stdout", "out"},
                                  {"proc.gpu_trainer.stderr", "error"}});
  CHECK((*channels)->counts() == ProcessCounts{{1, 3, 0, 0}, {1, 5, 0, 0}, {1, 28, 0, 0}});
}

TEST_CASE("lifecycle_records_are_those_of_the_schema") {
  CHECK(to_json(ProcessStarted{42}) == R"({"event":"started","pid":42})");
  CHECK(to_json(ProcessSpawnFailed{"no \"x\""}) ==
        R"({"event":"spawn_failed","error":"no \"x\""})");
  CHECK(to_json(ProcessExited{{ProcessExit::Kind::code, 3}}) ==
        R"({"event":"exited","status":{"kind":"code","value":3}})");
  CHECK(to_json(ProcessExited{{ProcessExit::Kind::signal, 9}}) ==
        R"({"event":"exited","status":{"kind":"signal","value":9}})");
  CHECK(to_json(ProcessExited{}) == R"({"event":"exited","status":{"kind":"unknown"}})");
  CHECK(to_json(ProcessFault{"lost"}) == R"({"event":"error","error":"lost"})");
}

TEST_CASE("channels_of_a_label_can_be_opened_again_once_they_are_closed") {
  CapturedStream stream;
  const auto first = ProcessChannels::open(stream.producer(), "a");
  REQUIRE(first);
  const auto second = ProcessChannels::open(stream.producer(), "A");
  REQUIRE_FALSE(second);
  CHECK(second.error().kind == ProcessError::Kind::label_in_use);
  (*first)->close();
  (*first)->close();
  CHECK(ProcessChannels::open(stream.producer(), "a"));
}

TEST_CASE("a_channel_that_the_catalog_refuses_is_an_error_that_keeps_no_label") {
  CapturedStream stream;
  stream.endpoint().register_channel("proc.a.stderr", Bytes{});
  const auto refused = ProcessChannels::open(stream.producer(), "a");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ProcessError::Kind::channel_refused);
  CHECK(refused.error().message.find("proc.a.stderr") != std::string::npos);
  CHECK(ProcessLabelReservation::reserve(stream.endpoint().stream_id(), "a"));

  stream.endpoint().end_stream();
  const auto late = ProcessChannels::open(stream.producer(), "b");
  REQUIRE_FALSE(late);
  CHECK(late.error().kind == ProcessError::Kind::channel_refused);
}

TEST_CASE("with_an_observer_of_the_caller_only_the_lifecycle_channel_is_registered") {
  CapturedStream stream;
  const auto observer = std::make_shared<RecordingObserver>();
  const auto channels = ProcessChannels::open(stream.producer(), "a", observer);
  REQUIRE(channels);
  (*channels)->on_output("a", true, "text");
  CHECK(observer->output("a", true).bytes == 4);
  CHECK(stream.producer().find_channel("proc.a.lifecycle"));
  CHECK_FALSE(stream.producer().find_channel("proc.a.stdout"));
  CHECK_FALSE(stream.producer().find_channel("proc.a.stderr"));
  CHECK((*channels)->counts() == ProcessCounts{});
}
