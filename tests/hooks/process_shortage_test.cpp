/// Processes while memory is short.

#include <under_tsan.hpp>

#if !DATASTREAM_UNDER_TSAN

#include "captured.hpp"

#include <shortage.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cerrno>
#include <new>
#include <optional>
#include <sys/wait.h>

using namespace datastream;
using namespace datastream::test;

namespace {

bool no_child_is_left() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == -1 && errno == ECHILD;
}

/// Lets one allocation of the runner's thread fail, after the first chunk that it reads.
class ShortAfterFirstChunk final : public ProcessOutputObserver {
public:
  explicit ShortAfterFirstChunk(std::size_t allocations) : allocations_(allocations) {}

  void on_output(std::string_view, bool, std::string_view data) override {
    bytes_ += data.size();
    if (!shortage_)
      shortage_.emplace(allocations_);
  }
  std::size_t bytes() const { return bytes_; }

private:
  const std::size_t allocations_;
  std::optional<Shortage> shortage_;
  std::size_t bytes_ = 0;
};

} // namespace

TEST_CASE("whatever_finds_no_memory_a_process_is_read_and_its_end_is_told") {
  constexpr std::size_t size = 300'000; // more than a pipe holds
  bool happened = true;
  std::size_t allocations = 0;
  for (; happened; ++allocations) {
    CAPTURE(allocations);
    CapturedStream stream;
    const auto observer = std::make_shared<ShortAfterFirstChunk>(allocations);
    ProcessRunner runner{stream.producer(), observer};
    happened = false;
    ProcessCommand command = child({"write", "1", std::to_string(size)});
    command.on_end = [&](const ProcessExit&) { happened = Shortage::happened(); };
    const auto process = runner.start(std::move(command));
    REQUIRE(process);
    REQUIRE(process->wait(patience));
    CHECK(process->exit_status() == ProcessExit{ProcessExit::Kind::code, 0});
    CHECK(observer->bytes() == size);
    const SubmissionCounts lifecycle = process->counts().lifecycle;
    CHECK(lifecycle.accepted_frames + lifecycle.refused_frames == 2);
    CHECK(no_child_is_left());
    REQUIRE(allocations < 1000);
  }
  CHECK(allocations > 2); // with none at the last time
}

TEST_CASE("a_process_that_finds_no_memory_to_be_watched_is_watched_a_little_later") {
  bool happened = true;
  std::size_t allocations = 0;
  for (; happened; ++allocations) {
    CAPTURE(allocations);
    CapturedStream stream;
    ProcessRunner runner{stream.producer()};
    std::optional<Shortage> shortage; // of the runner's thread, as the next two until all is over
    std::optional<ManagedProcess> second;
    std::atomic<bool> over = false;
    happened = false;
    ProcessCommand next = child({"write", "1", "300000"}, "second");
    next.on_end = [&](const ProcessExit&) {
      happened = Shortage::happened();
      Shortage::end();
      over = true;
    };
    ProcessCommand command = child({"exit", "0"}, "first");
    command.on_end = [&](const ProcessExit&) {
      second.emplace(*runner.start(std::move(next)));
      shortage.emplace(allocations);
    };
    const auto first = runner.start(std::move(command));
    REQUIRE(first);
    REQUIRE(eventually([&] { return over.load(); }));
    REQUIRE(second->wait(patience));
    CHECK(second->exit_status() == ProcessExit{ProcessExit::Kind::code, 0});
    CHECK(stream.text("proc.second.stdout").size() == 300'000);
    REQUIRE(allocations < 1000);
  }
  CHECK(allocations > 3);
}

TEST_CASE("a_start_that_finds_no_memory_leaves_no_process_and_its_label_free") {
  CapturedStream stream;
  ProcessRunner runner{stream.producer()};
  std::uint64_t records = 0;
  bool happened = true;
  std::size_t allocations = 0;
  for (; happened; ++allocations) {
    CAPTURE(allocations);
    std::optional<ManagedProcess> process;
    std::optional<ProcessError> error;
    ProcessCommand command = child({"ignore_term"});
    {
      const Shortage shortage(allocations);
      try {
        auto started = runner.start(std::move(command));
        if (started)
          process.emplace(std::move(*started));
        else
          error.emplace(std::move(started.error()));
      } catch (const std::bad_alloc&) { // NOLINT(bugprone-empty-catch): as it is documented
      }
      happened = Shortage::happened();
    }
    if (process)
      process.reset();
    CHECK(no_child_is_left());
    // A record of a start is followed by that of the exit; one of a failure stands alone.
    const SubmissionCounts lifecycle = runner.counts().lifecycle;
    const std::uint64_t more = lifecycle.accepted_frames + lifecycle.refused_frames - records;
    records += more;
    CHECK(more <= 2);
    REQUIRE(allocations < 1000);
  }
  CHECK(allocations > 10);
  const auto process = runner.start(child({"exit", "0"}));
  REQUIRE_MESSAGE(process, process.error().message);
  CHECK(process->wait(patience));
}

TEST_CASE("a_handle_or_a_runner_that_goes_while_memory_is_short_still_kills") {
  for (const bool runner_goes : {false, true}) {
    CAPTURE(runner_goes);
    bool happened = false;
    for (int i = 0; i < 3; ++i) { // what Asio keeps of a thread's memory is used first
      CapturedStream stream;
      std::optional<ProcessRunner> runner{std::in_place, stream.producer()};
      std::optional<ManagedProcess> process{*runner->start(child({"ignore_term"}))};
      {
        const Shortage shortage(0);
        if (runner_goes)
          runner.reset();
        else
          process.reset();
        happened |= Shortage::happened();
      }
      CHECK(no_child_is_left());
    }
    CHECK(happened);
  }
}

#endif
