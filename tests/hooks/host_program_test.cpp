#include "../../runtime_hooks/src/host_program.hpp"
#include "temporary_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <expected>
#include <filesystem>
#include <fstream>
#include <new>
#include <stop_token>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <eventually.hpp>
#include <shortage.hpp>
#include <under_tsan.hpp>

using namespace datastream;
using namespace datastream::test;
using host::HostProgram;
using host::ProgramOutput;
using Clock = HostProgram::Clock;
using namespace std::chrono_literals;

namespace {

std::expected<ProgramOutput, std::string> run(std::vector<std::string> command,
                                              Clock::duration timeout = patience,
                                              const std::stop_token& stop = {}) {
  HostProgram program;
  return program.run(std::move(command), Clock::now() + timeout, stop);
}

/// Gone, or at least dead: whoever inherits it may take its time to notice.
bool is_dead(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string ignored, name, state;
  return !(file >> ignored >> name >> state) || state == "Z" || state == "X";
}

/// The number in a file, once it is there.
pid_t pid_in(const std::filesystem::path& file) {
  pid_t pid = 0;
  CHECK(eventually([&] { return static_cast<bool>(std::ifstream(file) >> pid); }));
  return pid;
}

} // namespace

TEST_CASE("a_program_is_run_and_what_it_printed_returned") {
  const auto output = run({"printf", "a b\\n%s\\n", "$HOME; `id`"});
  REQUIRE(output);
  CHECK(output->text == "a b\n$HOME; `id`\n");
  CHECK(output->status == 0);
}

TEST_CASE("a_program_that_does_not_exist_is_an_error") {
  CHECK(run({"datastream-no-such-program"}).error() ==
        "datastream-no-such-program: No such file or directory");
}

TEST_CASE("a_program_has_no_input_and_its_complaints_go_nowhere") {
  const TemporaryFolder folder;
  const auto output = run({folder.write_script("tool", "cat; echo complaint >&2; echo done")});
  REQUIRE(output);
  CHECK(output->text == "done\n");
}

TEST_CASE("a_program_inherits_no_other_files") {
  const TemporaryFolder folder;
  const int inherited = ::dup(STDERR_FILENO);
  const auto output = run({folder.write_script("tool", "ls /proc/self/fd | tr '\\n' ' '")});
  ::close(inherited);
  REQUIRE(output);
  CHECK(output->text == "0 1 2 3 "); // 3 is the folder that it lists
}

TEST_CASE("how_a_program_ended_is_told") {
  const TemporaryFolder folder;
  CHECK(run({folder.write_script("fails", "echo why; exit 9")})->status == 9);
  CHECK(run({folder.write_script("fails", "echo why; exit 9")})->text == "why\n");
  CHECK(run({folder.write_script("dies", "kill -TERM $$")})->status == 128 + SIGTERM);
}

TEST_CASE("a_program_that_takes_too_long_is_killed") {
  CHECK(run({"sleep", "1000"}, 100ms).error() == "sleep: took too long");
}

TEST_CASE("a_program_that_closes_its_output_and_goes_on_is_killed_too") {
  const TemporaryFolder folder;
  const std::string tool = folder.write_script("tool", "echo early; exec >&-; exec sleep 1000");
  auto timeout = 50ms; // in the end long enough for it to close its output
  CHECK(eventually([&] { return run({tool}, timeout *= 2).error() == tool + ": did not end"; }));
}

TEST_CASE("a_program_that_prints_without_end_is_killed") {
  CHECK(run({"yes"}).error() == "yes: prints too much");
}

TEST_CASE("a_request_to_stop_ends_a_program_and_its_children") {
  std::stop_source source;
  const TemporaryFolder folder;
  const auto file = folder.path() / "pid";
  const std::string tool =
      folder.write_script("tool", "sleep 1000 & echo $! > " + file.string() + "; wait");
  std::jthread stopper([&] {
    pid_in(file);
    source.request_stop();
  });
  CHECK(run({tool}, patience, source.get_token()).error() == tool + ": interrupted");
  CHECK(eventually([&] { return is_dead(pid_in(file)); }));
}

TEST_CASE("one_program_after_another_can_be_run") {
  HostProgram program;
  for (int i = 0; i < 20; ++i)
    CHECK(program.run({"echo", "x"}, Clock::now() + patience, {})->text == "x\n");
  CHECK_FALSE(program.run({"sleep", "1000"}, Clock::now() + 1ms, {}));
  CHECK(program.run({"echo", "x"}, Clock::now() + patience, {})->text == "x\n");
}

TEST_CASE("a_program_whose_status_somebody_else_takes_is_over_as_well") {
  const auto before = ::signal(SIGCHLD, SIG_IGN); // the kernel takes it
  const auto output = run({"echo", "x"});
  ::signal(SIGCHLD, before);
  REQUIRE(output);
  CHECK(output->text == "x\n");
  CHECK(output->status == 0);
}

#if !DATASTREAM_UNDER_TSAN
TEST_CASE("a_program_whose_output_finds_no_memory_is_waited_for_all_the_same") {
  std::size_t n = 0;
  for (bool failed = true; failed; ++n) {
    CAPTURE(n);
    HostProgram program;
    std::vector<std::string> command{"printf", "%010000d", "1"};
    const auto until = Clock::now() + patience;
    bool printed = false;
    try {
      const Shortage shortage(n);
      printed = program.run(std::move(command), until, {}).has_value();
    } catch (const std::bad_alloc&) {
      // It was not started, or its error could not be told.
    }
    failed = Shortage::happened();
    CHECK(printed == !failed);
    CHECK(::waitpid(-1, nullptr, WNOHANG) == -1); // no child is left
  }
  CHECK(n > 3);
}
#endif
