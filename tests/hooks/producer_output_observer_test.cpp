#include "captured.hpp"

#include <datastream/hooks/producer_output_observer.hpp>

#include <doctest/doctest.h>

#include <thread>

using namespace datastream;
using namespace datastream::test;

TEST_CASE("chunks_go_to_the_channel_that_the_callers_function_names") {
  CapturedStream stream;
  const ChannelId text = stream.endpoint().register_channel("app.text", TextStream{});
  const ChannelId errors = stream.endpoint().register_channel("app.errors", Bytes{});
  ProducerOutputObserver observer{stream.producer(), [=](std::string_view label, bool is_stderr) {
                                    return is_stderr && label == "worker" ? errors : text;
                                  }};
  ProcessOutputObserver& seam = observer;
  const std::string bytes("\xff\0\n", 3);
  seam.on_output("worker", false, "one");
  seam.on_output("worker", true, bytes);
  seam.on_output("other", true, "two");

  using Frames = std::vector<std::pair<std::string, std::string>>;
  CHECK(stream.frames() == Frames{{"app.text", "one"}, {"app.errors", bytes}, {"app.text", "two"}});
  CHECK(observer.counts(text) == SubmissionCounts{2, 6, 0, 0});
  CHECK(observer.counts(errors) == SubmissionCounts{1, 3, 0, 0});
  CHECK(observer.counts(ChannelId{99}) == SubmissionCounts{});
  CHECK(observer.counts().size() == 2);
}

TEST_CASE("what_a_full_mux_refuses_is_counted_by_channel") {
  CapturedStream stream{{.frames = 2}};
  const ChannelId out = stream.endpoint().register_channel("out", TextStream{});
  const ChannelId err = stream.endpoint().register_channel("err", TextStream{});
  ProducerOutputObserver observer{
      stream.producer(), [=](std::string_view, bool is_stderr) { return is_stderr ? err : out; }};
  observer.on_output("a", false, "1");
  observer.on_output("a", true, "22");
  observer.on_output("a", false, "333");
  observer.on_output("a", true, "4444");
  observer.on_output("a", true, "55555");
  CHECK(observer.counts(out) == SubmissionCounts{1, 1, 1, 3});
  CHECK(observer.counts(err) == SubmissionCounts{1, 2, 2, 9});
  CHECK(stream.endpoint().ledger().refused.mux_frames_full == 3);

  stream.endpoint().end_stream();
  observer.on_output("a", false, "666666");
  CHECK(observer.counts(out) == SubmissionCounts{1, 1, 2, 9});
}

TEST_CASE("counts_of_several_threads_add_up") {
  CapturedStream stream{{.frames = 100}};
  const ChannelId channel = stream.endpoint().register_channel("out", TextStream{});
  ProducerOutputObserver observer{stream.producer(),
                                  [=](std::string_view, bool) { return channel; }};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 1000; ++n)
        observer.on_output("a", false, "0123456789");
    });
  for (std::thread& thread : threads)
    thread.join();
  CHECK(observer.counts(channel) == SubmissionCounts{100, 1000, 3900, 39000});
}
