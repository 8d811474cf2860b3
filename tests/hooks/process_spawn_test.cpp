#include "captured.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace datastream;
using namespace datastream::test;

namespace {

/// A directory that is empty at first and gone afterwards.
class TemporaryDirectory {
public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "hook_tests.XXXXXX").native();
    REQUIRE(::mkdtemp(name.data()));
    path_ = name;
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

/// Runs a command to its end and returns its standard output.
std::string output_of(ProcessCommand command) {
  CapturedStream stream;
  ProcessRunner runner{stream.producer()};
  command.label = "one";
  const auto process = runner.start(std::move(command));
  REQUIRE_MESSAGE(process, process.error().message);
  REQUIRE(process->wait(patience));
  CHECK(process->exit_status()->success());
  return stream.text("proc.one.stdout");
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

} // namespace

TEST_CASE("a_program_that_cannot_be_started_is_an_error_and_a_lifecycle_record") {
  const TemporaryDirectory directory;
  const auto text_file = directory.path() / "text";
  std::ofstream(text_file) << "not a program\n";
  const auto no_format = directory.path() / "no_format";
  std::ofstream(no_format) << "not a program\n";
  std::filesystem::permissions(no_format, std::filesystem::perms::owner_all);
  const auto no_interpreter = directory.path() / "no_interpreter";
  std::ofstream(no_interpreter) << "#!/no/such/interpreter\n";
  std::filesystem::permissions(no_interpreter, std::filesystem::perms::owner_all);

  using Kind = ProcessError::Kind;
  CapturedStream stream;
  ProcessRunner runner{stream.producer()};
  std::size_t records = 0;
  const auto fails = [&](ProcessCommand command, Kind kind, const std::string& named) {
    command.label = "failing"; // free again each time
    const auto process = runner.start(std::move(command));
    REQUIRE_FALSE(process);
    CHECK_MESSAGE(process.error().kind == kind, process.error().message);
    CHECK_MESSAGE(process.error().message.find(named) != std::string::npos,
                  process.error().message);
    REQUIRE(stream.frames().size() == ++records);
    const auto& [channel, record] = stream.frames().back();
    CHECK(channel == "proc.failing.lifecycle");
    CHECK(record.starts_with(R"({"event":"spawn_failed","error":")"));
  };
  fails({.argv = {"/no/such/program"}}, Kind::not_found, "/no/such/program");
  fails({.argv = {"no-such-program-in-the-path"}}, Kind::not_found, "no-such-program-in-the-path");
  fails({.argv = {no_interpreter}}, Kind::not_found, no_interpreter);
  fails({.argv = {text_file}}, Kind::not_executable, text_file);
  fails({.argv = {no_format}}, Kind::not_executable, no_format);
  fails({.argv = {directory.path()}}, Kind::not_executable, directory.path());
  fails({.argv = {"true"}, .working_directory = "/no/such/directory"}, Kind::working_directory,
        "/no/such/directory");
  fails({.argv = {"true"}, .working_directory = text_file}, Kind::working_directory, text_file);
  fails({.argv = {"true", std::string("a\0b", 3)}}, Kind::invalid_command, "true");
  fails({.argv = {"true"}, .environment = {.changes = {{"A=B", "c"}}}}, Kind::invalid_command,
        "A=B");
  fails({.argv = {"true"}, .environment = {.changes = {{"", "c"}}}}, Kind::invalid_command, "");
  fails({.argv = {"true", std::string(4'000'000, 'x')}}, Kind::spawn_failed, "true");
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

TEST_CASE("a_command_without_a_label_or_a_program_is_an_error_without_a_record") {
  CapturedStream stream;
  ProcessRunner runner{stream.producer()};
  const auto nothing = runner.start({});
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().kind == ProcessError::Kind::invalid_command);
  const auto unlabelled = runner.start({.argv = {"true"}, .label = "..."});
  REQUIRE_FALSE(unlabelled);
  CHECK(unlabelled.error().kind == ProcessError::Kind::invalid_label);
  CHECK(stream.frames().empty());
}

TEST_CASE("an_ended_stream_starts_no_process") {
  CapturedStream stream;
  ProcessRunner runner{stream.producer()};
  stream.endpoint().end_stream();
  const auto process = runner.start({.argv = {"true"}});
  REQUIRE_FALSE(process);
  CHECK(process.error().kind == ProcessError::Kind::channel_refused);
}

TEST_CASE("arguments_reach_the_program_as_they_are") {
  const std::string odd = "a b\t'\"\\$HOME`*\n\xff";
  CHECK(output_of({.argv = {"printf", "%s|%s|%s", "", odd, "-x"}}) == "|" + odd + "|-x");
}

TEST_CASE("the_environment_is_inherited_and_changed") {
  ::setenv("HOOK_TEST_KEPT", "kept", 1);
  ::setenv("HOOK_TEST_REMOVED", "removed", 1);
  ::setenv("HOOK_TEST_CHANGED", "before", 1);
  const std::string out = output_of({.argv = {"env"},
                                     .environment = {.changes = {
                                                         {"HOOK_TEST_REMOVED", std::nullopt},
                                                         {"HOOK_TEST_CHANGED", "after=1"},
                                                         {"HOOK_TEST_NEW", ""},
                                                     }}});
  CHECK(has_line(out, "HOOK_TEST_KEPT=kept"));
  CHECK(has_line(out, "HOOK_TEST_CHANGED=after=1"));
  CHECK(has_line(out, "HOOK_TEST_NEW="));
  CHECK(out.find("HOOK_TEST_REMOVED") == std::string::npos);
  CHECK(out.find("before") == std::string::npos);
}

TEST_CASE("the_environment_is_replaced") {
  CHECK(output_of({.argv = {"env"},
                   .environment = {.inherit = false, .changes = {{"A", "1"}, {"B", "2"}}}}) ==
        "A=1\nB=2\n");
}

TEST_CASE("a_process_begins_in_its_working_directory") {
  const TemporaryDirectory directory;
  std::filesystem::create_symlink("/bin/pwd", directory.path() / "where");
  CHECK(output_of({.argv = {"./where", "-P"}, .working_directory = directory.path()}) ==
        std::filesystem::canonical(directory.path()).native() + "\n");
}

TEST_CASE("a_process_gets_default_signals_its_own_group_and_none_of_our_descriptors") {
  const int leaked = ::open("/dev/null", O_RDONLY); // by another part of the program
  REQUIRE(leaked > 2);
  struct sigaction ignore{};
  struct sigaction before{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGUSR1, &ignore, &before);
  sigset_t blocked;
  sigset_t mask_before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &mask_before);

  const std::string out = output_of(child({"report"}));

  sigset_t mask_after;
  ::pthread_sigmask(SIG_SETMASK, &mask_before, &mask_after);
  CHECK(sigismember(&mask_after, SIGUSR2) == 1);
  CHECK(sigismember(&mask_after, SIGUSR1) == 0);
  struct sigaction after{};
  ::sigaction(SIGUSR1, &before, &after);
  CHECK((after.sa_handler == SIG_IGN));
  ::close(leaked);
  CHECK(out == "SigBlk: 0\n"
               "SigIgn: 0\n"
               "descriptors: 0 1 2\n"
               "stdin: /dev/null\n"
               "own group: 1\n");
}

TEST_CASE("a_process_can_be_started_while_standard_descriptors_are_closed") {
  CapturedStream stream;
  ProcessRunner runner{stream.producer()};
  // The runner takes its own descriptors first, so that those of the processes get the low numbers.
  REQUIRE(runner.start({.argv = {"true"}}));
  const int saved_in = ::dup(STDIN_FILENO);
  const int saved_out = ::dup(STDOUT_FILENO);
  const int saved_err = ::dup(STDERR_FILENO);
  ::close(STDIN_FILENO);
  ::close(STDOUT_FILENO);
  ::close(STDERR_FILENO);
  const ProcessCommand command{
      .argv = {"sh", "-c", "pwd; echo err >&2"}, .label = "both", .working_directory = "/proc"};
  ProcessCommand discarding = command; // its directory gets a low number
  discarding.label = "out";
  discarding.standard_error = OutputMode::discard;
  const auto both = runner.start(command);
  const auto out = runner.start(discarding);
  ::dup2(saved_in, STDIN_FILENO);
  ::dup2(saved_out, STDOUT_FILENO);
  ::dup2(saved_err, STDERR_FILENO);
  for (const int fd : {saved_in, saved_out, saved_err})
    ::close(fd);
  REQUIRE_MESSAGE(both, both.error().message);
  REQUIRE_MESSAGE(out, out.error().message);
  REQUIRE(both->wait(patience));
  REQUIRE(out->wait(patience));
  CHECK(stream.text("proc.both.stdout") == "/proc\n");
  CHECK(stream.text("proc.both.stderr") == "err\n");
  CHECK(stream.text("proc.out.stdout") == "/proc\n");
}

TEST_CASE("outputs_are_captured_discarded_or_inherited_one_by_one") {
  const ProcessCommand both{.argv = {"sh", "-c", "echo out; echo err >&2"}, .label = "one"};
  CapturedStream stream;
  ProcessRunner runner{stream.producer()};
  ProcessCommand discard = both;
  discard.standard_output = OutputMode::discard;
  const auto discarding = runner.start(std::move(discard));
  REQUIRE(discarding);
  REQUIRE(discarding->wait(patience));
  CHECK(stream.text("proc.one.stdout").empty());
  CHECK(stream.text("proc.one.stderr") == "err\n");

  int fds[2];
  REQUIRE(::pipe(fds) == 0);
  const int saved = ::dup(STDERR_FILENO);
  ::dup2(fds[1], STDERR_FILENO);
  ProcessCommand inherit = both;
  inherit.standard_error = OutputMode::inherit;
  const auto inheriting = runner.start(std::move(inherit));
  ::dup2(saved, STDERR_FILENO);
  ::close(saved);
  ::close(fds[1]);
  REQUIRE(inheriting);
  REQUIRE(inheriting->wait(patience));
  char text[16] = {};
  CHECK(::read(fds[0], text, sizeof text) == 4);
  CHECK(std::string(text) == "err\n");
  ::close(fds[0]);
  CHECK(stream.text("proc.one.stdout") == "out\n");
  CHECK(stream.text("proc.one.stderr") == "err\n"); // of the first one
}
