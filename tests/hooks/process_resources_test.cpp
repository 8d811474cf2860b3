#include "captured.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace datastream;
using namespace datastream::test;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool sanitized = false;
#endif

/// Enough to see a leak of one page a process; under a sanitizer, which keeps what was freed,
/// memory is not looked at.
constexpr int processes = sanitized ? 500 : 3000;

std::size_t entries(const char* directory) {
  const std::filesystem::directory_iterator begin(directory);
  return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator()));
}

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

bool no_child_is_left() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == -1 && errno == ECHILD;
}

std::atomic<int> child_signals{0};

} // namespace

TEST_CASE("processes_in_a_row_leave_no_descriptor_thread_zombie_or_memory_behind") {
  CapturedStream stream{{.frames = 16}}; // and nobody reads
  std::thread([] {}).join(); // with a program's first thread ThreadSanitizer starts one of its own
  const std::size_t threads_without_runner = entries("/proc/self/task");
  const std::size_t descriptors_without_runner = entries("/proc/self/fd");
  {
    ProcessRunner runner{stream.producer()};
    const auto run = [&](int count) {
      for (int i = 0; i < count; ++i) {
        const auto process = runner.start({.argv = {"true"}});
        REQUIRE_MESSAGE(process, process.error().message);
        REQUIRE(process->wait(patience));
        REQUIRE(process->exit_status()->success());
      }
    };
    run(200);
    const std::size_t threads = entries("/proc/self/task");
    const std::size_t descriptors = entries("/proc/self/fd");
    const std::size_t memory = resident_bytes();
    run(processes);
    CHECK(entries("/proc/self/task") == threads);
    CHECK(entries("/proc/self/fd") == descriptors);
    CHECK(no_child_is_left());
    if (!sanitized)
      CHECK(resident_bytes() < memory + (1U << 20U));
    CHECK(threads == threads_without_runner + 1);
  }
  CHECK(entries("/proc/self/task") == threads_without_runner);
  CHECK(entries("/proc/self/fd") == descriptors_without_runner);
}

TEST_CASE("failed_starts_leave_nothing_behind") {
  CapturedStream stream{{.frames = 16}};
  ProcessRunner runner{stream.producer()};
  REQUIRE_FALSE(runner.start({.argv = {"/no/such/program"}}));
  const std::size_t descriptors = entries("/proc/self/fd");
  for (int i = 0; i < 100; ++i) {
    REQUIRE_FALSE(runner.start({.argv = {"/no/such/program"}, .working_directory = "/"}));
    REQUIRE_FALSE(runner.start({.argv = {"true"}, .working_directory = "/no/such/directory"}));
  }
  CHECK(entries("/proc/self/fd") == descriptors);
  CHECK(no_child_is_left());
}

TEST_CASE("a_runner_that_starts_nothing_has_no_thread") {
  CapturedStream stream;
  const std::size_t threads = entries("/proc/self/task");
  const ProcessRunner runner{stream.producer()};
  CHECK(entries("/proc/self/task") == threads);
}

TEST_CASE("without_descriptors_a_start_fails_and_works_again_later") {
  CapturedStream stream;
  ProcessRunner runner{stream.producer()};
  // All is called once while there are descriptors: UndefinedBehaviorSanitizer needs some itself
  // when it meets a class for the first time, and takes their lack for a broken object.
  {
    const auto first = runner.start(child({"exit", "0"}));
    REQUIRE(first);
    REQUIRE(first->wait(patience));
  }
  REQUIRE_FALSE(runner.start({.argv = {"/no/such/program"}}));
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  rlimit few = before;
  few.rlim_cur = 100;
  ::setrlimit(RLIMIT_NOFILE, &few);
  std::vector<int> taken;
  for (int fd = ::dup(STDIN_FILENO); fd >= 0; fd = ::dup(STDIN_FILENO))
    taken.push_back(fd);
  // Each round leaves one descriptor more, so that every step of a start is the one that fails.
  std::size_t failures = 0;
  for (; !taken.empty(); ++failures) {
    const auto process = runner.start(child({"exit", "0"}));
    if (process)
      break;
    CHECK(process.error().kind == ProcessError::Kind::spawn_failed);
    ::close(taken.back());
    taken.pop_back();
  }
  CHECK(failures == 5); // two pipes and the process: five descriptors
  for (const int fd : taken)
    ::close(fd);
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK(no_child_is_left());
}

TEST_CASE("the_programs_own_handler_of_child_signals_stays_and_is_called") {
  struct sigaction ours{};
  struct sigaction before{};
  ours.sa_handler = [](int) { ++child_signals; };
  ours.sa_flags = SA_RESTART;
  ::sigaction(SIGCHLD, &ours, &before);
  struct sigaction pipe_before{};
  ::sigaction(SIGPIPE, nullptr, &pipe_before);
  child_signals = 0;
  {
    CapturedStream stream;
    ProcessRunner runner{stream.producer()};
    const auto process = runner.start(child({"exit", "6"}));
    REQUIRE(process);
    REQUIRE(process->wait(patience));
    CHECK(process->exit_status() == ProcessExit{ProcessExit::Kind::code, 6});
  }
  CHECK(eventually([] { return child_signals > 0; }));
  struct sigaction pipe_after{};
  ::sigaction(SIGPIPE, nullptr, &pipe_after);
  CHECK((pipe_after.sa_handler == pipe_before.sa_handler));
  struct sigaction after{};
  ::sigaction(SIGCHLD, &before, &after);
  CHECK((after.sa_handler == ours.sa_handler));
}

TEST_CASE("a_program_that_ignores_child_signals_learns_of_the_end_but_not_of_the_status") {
  struct sigaction ignore{};
  struct sigaction before{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGCHLD, &ignore, &before);
  {
    CapturedStream stream;
    ProcessRunner runner{stream.producer()};
    for (int i = 0; i < 20; ++i) { // some end before they are watched
      const auto process = runner.start({.argv = {"true"}});
      REQUIRE_MESSAGE(process, process.error().message);
      REQUIRE(process->wait(patience));
      CHECK(process->exit_status() == ProcessExit{});
    }
    CHECK(stream.frames().back().second == R"({"event":"exited","status":{"kind":"unknown"}})");
    auto running = runner.start(child({"ignore_term"}));
    REQUIRE(running);
    running->stop(std::chrono::milliseconds(0));
    CHECK(running->wait(patience));
  }
  ::sigaction(SIGCHLD, &before, nullptr);
}

TEST_CASE("a_child_of_the_programs_own_is_left_to_the_program") {
  CapturedStream stream;
  ProcessRunner runner{stream.producer()};
  const pid_t own = ::fork();
  if (own == 0)
    ::_exit(11);
  const auto process = runner.start(child({"exit", "0"}));
  REQUIRE(process);
  REQUIRE(process->wait(patience));
  int status = 0;
  CHECK(::waitpid(own, &status, 0) == own);
  CHECK(WEXITSTATUS(status) == 11);
}
