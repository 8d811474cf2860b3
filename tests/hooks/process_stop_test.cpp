#include "captured.hpp"
#include "replaced_log_sink.hpp"

#include <datastream/log_sink.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds for_ever = std::chrono::milliseconds::max();
constexpr ProcessExit killed{ProcessExit::Kind::signal, SIGKILL};

struct Fixture {
  CapturedStream stream;
  std::optional<ProcessRunner> runner{std::in_place, stream.producer()};

  /// Starts a process and waits until it has said `text`.
  ManagedProcess start(ProcessCommand command, const std::string& text) {
    const std::string channel = "proc." + *command.label + ".stdout";
    auto process = runner->start(std::move(command));
    REQUIRE_MESSAGE(process, process.error().message);
    REQUIRE(eventually([&] { return stream.text(channel).find(text) != std::string::npos; }));
    return std::move(*process);
  }

  pid_t pid_after(const std::string& word) {
    const std::string text = stream.text("proc.child.stdout");
    return static_cast<pid_t>(std::stol(text.substr(text.find(word) + word.size())));
  }
};

bool no_child_is_left() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == -1 && errno == ECHILD;
}

/// The letter that the system shows for its state; nothing when it is gone.
std::optional<char> state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line))
    return std::nullopt;
  return line.at(line.rfind(')') + 2);
}

/// Whether it has ended; whoever inherited it may not have reaped it yet.
bool is_dead(pid_t pid) {
  const auto state = state_of(pid);
  return !state || state == 'Z' || state == 'X';
}

/// Whether it has ended and was reaped.
bool is_gone(pid_t pid) {
  return ::kill(pid, 0) == -1 && errno == ESRCH;
}

} // namespace

TEST_CASE("a_stopped_process_is_asked_first") {
  Fixture f;
  auto process = f.start(child({"obey"}), "ready");
  process.stop(for_ever);
  REQUIRE(process.wait(for_ever));
  CHECK(process.exit_status() == ProcessExit{ProcessExit::Kind::code, 4});
  CHECK(f.stream.text("proc.child.stdout") == "ready goodbye");
}

TEST_CASE("a_process_that_does_not_listen_is_killed_after_the_grace") {
  Fixture f;
  auto process = f.start(child({"ignore_term"}), "ready");
  const auto begin = std::chrono::steady_clock::now();
  process.stop(50ms);
  REQUIRE(process.wait(patience));
  CHECK(std::chrono::steady_clock::now() - begin >= 50ms);
  CHECK(process.exit_status() == killed);
}

TEST_CASE("of_two_graces_the_one_that_ends_first_counts") {
  Fixture f;
  SUBCASE("the_second") {
    auto process = f.start(child({"ignore_term"}), "ready");
    process.stop(for_ever);
    process.stop(1ms);
    CHECK(process.wait(patience));
  }
  SUBCASE("the_first") {
    auto process = f.start(child({"ignore_term"}), "ready");
    process.stop(1ms);
    process.stop(for_ever);
    CHECK(process.wait(patience));
  }
  SUBCASE("none") {
    auto process = f.start(child({"obey"}), "ready");
    process.stop(0ms);
    REQUIRE(process.wait(patience));
    CHECK(process.exit_status() == killed); // it was not asked
  }
}

TEST_CASE("a_process_that_was_suspended_can_be_asked") {
  Fixture f;
  auto process = f.start(child({"stop_itself"}), "ready");
  REQUIRE(eventually([&] { return state_of(process.pid()) == 'T'; }));
  process.stop(for_ever);
  REQUIRE(process.wait(patience));
  CHECK(process.exit_status() == ProcessExit{ProcessExit::Kind::code, 9});
}

TEST_CASE("stopping_reaches_the_group_after_its_first_process_has_exited") {
  Fixture f;
  auto process = f.start(child({"leave_heir"}), "heir ");
  REQUIRE(eventually([&] { return process.exit_status().has_value(); }));
  const pid_t heir = f.pid_after("heir ");
  process.stop(for_ever);
  REQUIRE(process.wait(patience));
  CHECK(f.stream.frames().back().second == " late"); // asked, not killed
  CHECK(eventually([&] { return is_dead(heir); }));
}

TEST_CASE("stopping_takes_along_what_holds_no_output") {
  Fixture f;
  // The heir ignores the signal from its begin on; its parent does not when it says so.
  auto process = f.start({.argv = {"sh", "-c",
                                   "trap '' TERM; sleep 1000 >/dev/null 2>&1 & "
                                   "trap - TERM; echo heir $!; exec sleep 1000"},
                          .label = "child"},
                         "\n");
  const pid_t heir = f.pid_after("heir ");
  process.stop(for_ever);
  REQUIRE(process.wait(patience));
  CHECK(eventually([&] { return is_dead(heir); }));
}

TEST_CASE("a_daemon_that_left_the_group_cannot_keep_a_stopped_process_from_ending") {
  Fixture f;
  auto process = f.start(child({"leave_daemon"}), "daemon ");
  REQUIRE(eventually([&] { return process.exit_status().has_value(); }));
  const pid_t daemon = f.pid_after("daemon ");
  process.stop(1ms);
  CHECK(process.wait(patience));
  CHECK(::kill(daemon, SIGKILL) == 0); // it was not reached
}

TEST_CASE("a_process_that_left_its_own_group_is_still_killed") {
  Fixture f;
  auto process = f.start(child({"leave_group"}), "helper ");
  const pid_t helper = f.pid_after("helper ");
  process.stop(0ms);
  REQUIRE(eventually([&] { return process.exit_status().has_value(); }));
  CHECK(process.exit_status() == killed);
  CHECK(::kill(helper, SIGKILL) == 0);
  CHECK(process.wait(patience));
}

TEST_CASE("destroying_a_handle_kills_and_reaps_the_group_and_frees_the_label") {
  Fixture f;
  pid_t pid = -1;
  {
    const auto process = f.start(child({"ignore_term"}), "ready");
    pid = process.pid();
    const auto second = f.runner->start(child({"exit", "0"}));
    REQUIRE_FALSE(second);
    CHECK(second.error().kind == ProcessError::Kind::label_in_use);
    CHECK(second.error().message.find("proc.child.lifecycle") != std::string::npos);
    CHECK(second.error().message.find("node-a#7") != std::string::npos);
  }
  CHECK(is_gone(pid));
  CHECK(no_child_is_left());
  CHECK(f.runner->start(child({"exit", "0"})));
}

TEST_CASE("assigning_over_a_handle_ends_its_process") {
  Fixture f;
  auto process = f.start(child({"ignore_term"}, "a"), "ready");
  const pid_t first = process.pid();
  process = f.start(child({"obey"}, "b"), "ready");
  CHECK(is_gone(first));
  CHECK(process.label() == "b");
  CHECK_FALSE(process.exit_status());
}

TEST_CASE("destroying_the_runner_ends_all_processes_and_leaves_their_handles_usable") {
  Fixture f;
  auto obeying = f.start(child({"obey"}, "a"), "ready");
  auto heir = f.start(child({"leave_heir"}, "b"), "heir ");
  auto daemon = f.start(child({"leave_daemon"}), "daemon ");
  f.runner.reset();
  CHECK(no_child_is_left());
  CHECK(obeying.wait(0ms));
  CHECK(obeying.exit_status() == killed);
  CHECK(heir.wait(0ms));
  CHECK(heir.exit_status());
  CHECK(daemon.wait(0ms));
  obeying.stop();
  ::kill(f.pid_after("daemon "), SIGKILL);
}

TEST_CASE("waiting_takes_any_time") {
  Fixture f;
  const auto process = f.start(child({"ignore_term"}), "ready");
  CHECK_FALSE(process.wait(std::chrono::milliseconds::min()));
  CHECK_FALSE(process.wait(-1ms));
}

TEST_CASE("callbacks_tell_the_exit_and_the_end_once_each_and_in_order") {
  CapturedStream stream;
  std::vector<std::string> calls; // of the runner's thread until `wait` has returned
  const ReplacedLogSink sink(
      [&](LogSeverity, std::string_view line) { calls.push_back("log " + std::string(line)); });
  ProcessRunner runner{stream.producer()};
  ProcessCommand command = child({"exit", "5"});
  command.on_exit = [&](const ProcessExit& exit) {
    calls.push_back("exit " + std::to_string(exit.value));
    throw std::runtime_error("no reason");
  };
  command.on_end = [&](const ProcessExit& exit) {
    calls.push_back("end " + std::to_string(exit.value));
  };
  const auto process = runner.start(std::move(command));
  REQUIRE(process);
  REQUIRE(process->wait(patience));
  CHECK(calls == std::vector<std::string>{
                     "exit 5", "log callback of process 'child' has thrown: no reason", "end 5"});
}

TEST_CASE("a_process_can_be_started_anew_where_its_end_is_told") {
  CapturedStream stream;
  ProcessRunner runner{stream.producer()};
  std::optional<ManagedProcess> process; // of the runner's thread between first start and `done`
  std::latch done{1};
  int runs = 0;
  std::function<ProcessCommand()> next = [&] {
    ProcessCommand command = child({"exit", "0"});
    command.on_end = [&](const ProcessExit&) {
      CHECK(process->wait(for_ever) == false); // does not wait here
      if (++runs == 20)
        return done.count_down();
      auto again = runner.start(next());
      REQUIRE(again);
      process = std::move(*again);
    };
    return command;
  };
  // On the runner's thread too, so that the handle is of one thread.
  ProcessCommand first = child({"exit", "0"}, "first");
  first.on_end = [&](const ProcessExit&) {
    auto started = runner.start(next());
    REQUIRE(started);
    process.emplace(std::move(*started));
  };
  const auto starter = runner.start(std::move(first));
  REQUIRE(starter);
  done.wait();
  CHECK(runs == 20);
}

TEST_CASE("a_process_cannot_be_started_anew_once_its_runner_is_being_destroyed") {
  CapturedStream stream;
  std::optional<ProcessError> refusal; // of the runner's thread until it has ended
  std::optional<ManagedProcess> process;
  auto runner = std::make_unique<ProcessRunner>(stream.producer());
  ProcessCommand command = child({"ignore_term"});
  command.on_end = [&, again = runner.get()](const ProcessExit&) {
    auto second = again->start(child({"ignore_term"}));
    if (!second)
      refusal = second.error();
  };
  auto first = runner->start(std::move(command));
  REQUIRE(first);
  process.emplace(std::move(*first));
  runner.reset();
  REQUIRE(refusal);
  CHECK(refusal->kind == ProcessError::Kind::runner_ended);
  CHECK(process->exit_status() == killed);
  CHECK(no_child_is_left());
  const std::string lifecycle = stream.text("proc.child.lifecycle");
  CHECK(lifecycle.find("spawn_failed") == std::string::npos); // nothing was tried
}

TEST_CASE("what_callbacks_start_while_their_runner_is_destroyed_does_not_survive_it") {
  // Each of them starts the next one as soon as it has ended, in the middle of the destruction too.
  for (int round = 0; round < 20; ++round) {
    CapturedStream stream;
    std::optional<ManagedProcess> process; // of the runner's thread until it has ended
    std::latch begun{1};
    auto runner = std::make_unique<ProcessRunner>(stream.producer());
    std::function<ProcessCommand()> next = [&, again = runner.get()] {
      ProcessCommand command = child({"exit", "0"});
      command.on_end = [&, again](const ProcessExit&) {
        if (auto started = again->start(next()))
          process = std::move(*started);
      };
      return command;
    };
    ProcessCommand first = child({"exit", "0"}, "first");
    first.on_end = [&, again = runner.get()](const ProcessExit&) {
      process.emplace(*again->start(next()));
      begun.count_down();
    };
    const auto starter = runner->start(std::move(first));
    REQUIRE(starter);
    begun.wait();
    runner.reset();
    CHECK(process->wait(0ms));
    CHECK(no_child_is_left());
  }
}

TEST_CASE("a_process_that_may_not_be_killed_is_given_up_when_its_handle_or_its_runner_goes") {
  if (::geteuid() != 0) {
    MESSAGE("needs the rights of root to give them up for a while");
    return;
  }
  for (const bool runner_goes : {false, true}) {
    Fixture f;
    int exits = 0;
    ProcessCommand command = child({"obey"});
    command.on_end = [&](const ProcessExit& exit) { exits += exit == ProcessExit{} ? 1 : 0; };
    std::optional<ManagedProcess> process{f.start(std::move(command), "ready")};
    const pid_t pid = process->pid();
    constexpr uid_t nobody = 65534;
    REQUIRE(::setresuid(nobody, nobody, 0) == 0);
    process->stop(1ms);
    const std::string fault =
        R"({"event":"error","error":"signalling it: Operation not permitted"})";
    CHECK(eventually([&] { // asking it and killing it
      return f.stream.text("proc.child.lifecycle").ends_with(fault + fault);
    }));
    CHECK_FALSE(process->exit_status());
    CHECK_FALSE(process->wait(0ms));
    if (runner_goes)
      f.runner.reset();
    process.reset();
    REQUIRE(::setresuid(0, 0, 0) == 0);
    CHECK(exits == 1);
    CHECK(f.stream.text("proc.child.lifecycle")
              .ends_with(R"({"event":"exited","status":{"kind":"unknown"}})"));
    CHECK(::kill(pid, SIGKILL) == 0); // it lives on
    int status = 0;
    CHECK(::waitpid(pid, &status, 0) == pid);
  }
}

TEST_CASE("a_runner_may_be_destroyed_in_a_callback") {
  CapturedStream stream;
  auto runner = std::make_unique<ProcessRunner>(stream.producer());
  const auto other = runner->start(child({"ignore_term"}, "other"));
  REQUIRE(other);
  ProcessCommand command = child({"obey"});
  command.on_end = [&](const ProcessExit&) { runner.reset(); };
  auto process = runner->start(std::move(command));
  REQUIRE(process);
  process->stop(0ms);
  REQUIRE(process->wait(patience));
  CHECK(other->wait(patience));
  CHECK(eventually(no_child_is_left));
}

TEST_CASE("handles_may_be_used_from_several_threads_while_the_process_ends") {
  CapturedStream stream{{.frames = 16}};
  ProcessRunner runner{stream.producer()};
  for (int round = 0; round < 20; ++round) {
    auto process = runner.start({.argv = {"yes"}});
    REQUIRE(process);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        process->stop(1ms);
        while (!process->wait(1ms)) {
          process->counts();
          process->exit_status();
        }
      });
    for (std::thread& thread : threads)
      thread.join();
    CHECK(process->exit_status());
  }
}
