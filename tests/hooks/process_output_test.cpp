#include "captured.hpp"

#include <datastream/hooks/producer_output_observer.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <csignal>
#include <future>
#include <memory>
#include <stdexcept>
#include <sys/wait.h>

using namespace datastream;
using namespace datastream::test;

namespace {

constexpr std::size_t four_mebibytes = 4U << 20U;

ManagedProcess started(ProcessRunner& runner, ProcessCommand command) {
  auto process = runner.start(std::move(command));
  REQUIRE_MESSAGE(process, process.error().message);
  return std::move(*process);
}

/// The number behind a word that a process has said.
pid_t pid_after(const std::string& text, const std::string& word) {
  return static_cast<pid_t>(std::stol(text.substr(text.find(word) + word.size())));
}

} // namespace

TEST_CASE("a_process_is_frames_on_its_channels_between_started_and_exited") {
  CapturedStream stream;
  ProcessRunner runner{stream.producer()};
  const auto process = started(runner, child({"exit", "3"}, "Worker 1"));
  CHECK(process.label() == "worker_1");
  REQUIRE(process.wait(patience));
  using Frames = std::vector<std::pair<std::string, std::string>>;
  CHECK(stream.frames() ==
        Frames{{"proc.worker_1.lifecycle",
                R"({"event":"started","pid":)" + std::to_string(process.pid()) + "}"},
               {"proc.worker_1.stdout", "leaving"},
               {"proc.worker_1.lifecycle",
                R"({"event":"exited","status":{"kind":"code","value":3}})"}});
  CHECK(process.exit_status() == ProcessExit{ProcessExit::Kind::code, 3});
}

TEST_CASE("every_byte_arrives_in_order_in_chunks_of_at_most_8192") {
  const std::string expected = written_bytes(four_mebibytes);
  SUBCASE("at_an_observer") {
    CapturedStream stream;
    const auto observer = std::make_shared<RecordingObserver>();
    ProcessRunner runner{stream.producer(), observer};
    const auto out = started(runner, child({"write", "1", std::to_string(four_mebibytes)}, "a"));
    const auto err = started(runner, child({"write", "2", std::to_string(four_mebibytes)}, "b"));
    REQUIRE(out.wait(patience));
    REQUIRE(err.wait(patience));
    RecordingObserver::Output all;
    all.add(expected);
    for (const auto& output : {observer->output("a", false), observer->output("b", true)}) {
      CHECK(output.bytes == four_mebibytes);
      CHECK(output.checksum == all.checksum);
      CHECK(output.largest_chunk <= 8192);
    }
    CHECK(observer->output("a", true).bytes == 0);
  }
  SUBCASE("at_a_reader_of_the_stream") {
    CapturedStream stream{{.frames = defaults::mux_frames_max}};
    ProcessRunner runner{stream.producer()};
    const auto process = started(runner, child({"write", "1", std::to_string(four_mebibytes)}));
    REQUIRE(process.wait(patience));
    CHECK(stream.text("proc.child.stdout") == expected);
  }
}

TEST_CASE("what_the_mux_refuses_is_counted_and_holds_nobody_up") {
  CapturedStream stream{{.frames = 2}}; // and nobody drains it
  ProcessRunner runner{stream.producer()};
  const auto process = started(runner, child({"write", "1", std::to_string(four_mebibytes)}));
  REQUIRE(process.wait(patience));
  const ProcessCounts counts = process.counts();
  CHECK(counts.standard_output.accepted_bytes + counts.standard_output.refused_bytes ==
        four_mebibytes);
  CHECK(counts.standard_output.accepted_frames == 1); // the other one is `started`
  CHECK(counts.standard_error == SubmissionCounts{});
  CHECK(counts.lifecycle.accepted_frames == 1);
  CHECK(counts.lifecycle.refused_frames == 1);
  const PipeLedger ledger = stream.endpoint().ledger();
  CHECK(ledger.refused.total() ==
        counts.standard_output.refused_frames + counts.lifecycle.refused_frames);
  CHECK(stream.text("proc.child.stdout").size() == counts.standard_output.accepted_bytes);
}

TEST_CASE("processes_that_write_without_end_are_read_side_by_side_until_they_are_stopped") {
  CapturedStream stream{{.frames = 16}};
  ProcessRunner runner{stream.producer()};
  std::vector<ManagedProcess> processes;
  processes.push_back(started(runner, {.argv = {"yes"}}));
  processes.push_back(started(runner, {.argv = {"cat", "/dev/urandom"}}));
  processes.push_back(started(runner, child({"flood"})));
  for (const ManagedProcess& process : processes)
    CHECK(eventually([&] {
      const SubmissionCounts counts = process.counts().standard_output;
      return counts.accepted_bytes + counts.refused_bytes > 10'000'000;
    }));
  const auto quiet = started(runner, child({"exit", "0"}, "quiet"));
  CHECK(quiet.wait(patience));
  for (ManagedProcess& process : processes) {
    process.stop();
    CHECK(process.wait(patience));
    CHECK(process.exit_status() == ProcessExit{ProcessExit::Kind::signal, SIGTERM});
  }
}

TEST_CASE("everything_that_a_process_wrote_itself_comes_before_its_exit") {
  // Waits in the first chunk until the process has ended, so that its exit and a full pipe are both
  // there to be seen.
  struct Waiting final : ProcessOutputObserver {
    std::promise<pid_t> pid;
    std::atomic<std::size_t> bytes{0};
    void on_output(std::string_view, bool, std::string_view data) override {
      if (bytes == 0) {
        const auto process = static_cast<id_t>(pid.get_future().get());
        eventually([process] {
          siginfo_t info{};
          ::waitid(P_PID, process, &info, WEXITED | WNOWAIT | WNOHANG);
          return info.si_pid != 0;
        });
      }
      bytes += data.size();
    }
  };
  constexpr std::size_t size = 1U << 19U; // more than what is read in one turn
  CapturedStream stream;
  const auto observer = std::make_shared<Waiting>();
  ProcessRunner runner{stream.producer(), observer};
  ProcessCommand command = child({"fill_pipe", std::to_string(size)});
  std::size_t bytes_at_exit = 0;
  command.on_exit = [&](const ProcessExit&) { bytes_at_exit = observer->bytes; };
  const auto process = started(runner, std::move(command));
  observer->pid.set_value(process.pid());
  REQUIRE(process.wait(patience));
  CHECK(bytes_at_exit == size);
}

TEST_CASE("the_exit_is_told_while_an_heir_holds_the_outputs_and_its_output_follows") {
  CapturedStream stream;
  ProcessRunner runner{stream.producer()};
  const auto process = started(runner, child({"leave_heir"}));
  REQUIRE(eventually([&] { return process.exit_status().has_value(); }));
  CHECK(process.exit_status() == ProcessExit{ProcessExit::Kind::code, 3});
  CHECK_FALSE(process.wait(std::chrono::milliseconds(0)));
  CHECK(stream.frames().back().second ==
        R"({"event":"exited","status":{"kind":"code","value":3}})");

  ::kill(pid_after(stream.text("proc.child.stdout"), "heir "), SIGTERM);
  REQUIRE(process.wait(patience));
  CHECK(stream.frames().back() ==
        std::pair<std::string, std::string>{"proc.child.stdout", " late"});
}

TEST_CASE("a_process_that_closes_its_outputs_lives_on") {
  CapturedStream stream;
  ProcessRunner runner{stream.producer()};
  auto process = started(runner, child({"close_outputs"}));
  REQUIRE(eventually([&] { return stream.text("proc.child.stdout") == "closing"; }));
  CHECK_FALSE(process.exit_status());
  process.stop();
  REQUIRE(process.wait(patience));
  CHECK(process.exit_status() == ProcessExit{ProcessExit::Kind::code, 7});
}

TEST_CASE("a_signal_that_ends_a_process_is_its_status") {
  CapturedStream stream;
  ProcessRunner runner{stream.producer()};
  for (const int signal : {SIGKILL, SIGABRT, SIGTERM}) {
    const auto process = started(runner, child({"die", std::to_string(signal)}));
    REQUIRE(process.wait(patience));
    CHECK(process.exit_status() == ProcessExit{ProcessExit::Kind::signal, signal});
    CHECK(stream.frames().back().second ==
          R"({"event":"exited","status":{"kind":"signal","value":)" + std::to_string(signal) +
              "}}");
  }
}

TEST_CASE("output_goes_where_the_callers_function_says") {
  CapturedStream stream;
  const ChannelId everything = stream.endpoint().register_channel("app.children", TextStream{});
  const auto observer = std::make_shared<ProducerOutputObserver>(
      stream.producer(), [everything](std::string_view, bool) { return everything; });
  ProcessRunner runner{stream.producer(), observer};
  for (const char* label : {"a", "b"})
    REQUIRE(started(runner, child({"exit", "0"}, label)).wait(patience));
  CHECK(stream.text("app.children") == "leavingleaving");
  CHECK(observer->counts(everything) == SubmissionCounts{2, 14, 0, 0});
  CHECK_FALSE(stream.text("proc.a.lifecycle").empty());
}

TEST_CASE("an_observer_that_throws_is_an_error_record_and_harms_nobody_else") {
  struct Throwing final : ProcessOutputObserver {
    void on_output(std::string_view, bool, std::string_view) override {
      throw std::runtime_error("out of order");
    }
  };
  CapturedStream stream;
  ProcessRunner runner{stream.producer(), std::make_shared<Throwing>()};
  const auto process = started(runner, child({"exit", "0"}));
  REQUIRE(process.wait(patience));
  REQUIRE(stream.frames().size() == 3);
  CHECK(stream.frames()[1].second ==
        R"({"event":"error","error":"the observer of its output has thrown: out of order"})");
  CHECK(process.exit_status()->success());
}
