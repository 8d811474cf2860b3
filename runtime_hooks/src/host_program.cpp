#include "host_program.hpp"

#include "child_setup.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <new>
#include <optional>
#include <poll.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace datastream::host {
namespace {

using Clock = HostProgram::Clock;
using namespace std::chrono_literals;

/// How soon a request to stop is noticed.
constexpr auto attention = 50ms;
/// How long a program that was killed may take to go.
constexpr auto last_words = 1000ms;

/// Starts the program with its output into `output`. Returns an error of the system.
int start(std::vector<std::string>& command, int output, pid_t& pid) {
  ChildSetup setup;
  setup.copy(output, STDOUT_FILENO);
  setup.discard(STDERR_FILENO);
  return setup.spawn(pid, pointers(command).data(), environ);
}

/// Its status when it has ended. 0 if it has, but somebody else in this process took its status.
std::optional<int> reap(pid_t pid) {
  int status = 0;
  const pid_t reaped = ::waitpid(pid, &status, WNOHANG);
  if (reaped == 0 || (reaped < 0 && errno == EINTR))
    return std::nullopt;
  if (reaped < 0)
    return 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The same, and waits for it.
std::optional<int> reap_until(pid_t pid, Clock::time_point deadline, const std::stop_token& stop) {
  for (auto pause = 1ms;; pause = std::min<std::chrono::milliseconds>(pause * 2, attention)) {
    if (const auto status = reap(pid))
      return status;
    if (Clock::now() >= deadline || stop.stop_requested())
      return std::nullopt;
    std::this_thread::sleep_for(pause);
  }
}

/// Reads up to the end. Errors in words.
std::expected<std::string, std::string> read_all(int fd, Clock::time_point deadline,
                                                 const std::stop_token& stop) {
  std::string text;
  std::array<char, 4096> bytes{};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left <= 0ms)
      return std::unexpected("took too long");
    if (stop.stop_requested())
      return std::unexpected("interrupted");
    pollfd readable{fd, POLLIN, 0};
    if (::poll(&readable, 1, static_cast<int>(std::min(left, attention).count())) <= 0)
      continue;
    const ssize_t got = ::read(fd, bytes.data(), bytes.size());
    if (got == 0)
      return text;
    if (got > 0)
      try {
        text.append(bytes.data(), static_cast<std::size_t>(got));
      } catch (const std::bad_alloc&) { // the program has to be ended all the same
        return std::unexpected("no memory");
      }
    if (text.size() > HostProgram::output_bytes)
      return std::unexpected("prints too much");
  }
}

} // namespace

std::expected<ProgramOutput, std::string> HostProgram::run(std::vector<std::string> command,
                                                           Clock::time_point deadline,
                                                           const std::stop_token& stop) {
  const std::string name = command.front();
  if (lingering_ >= 0 && !reap(lingering_))
    return std::unexpected(name + ": its last run cannot be ended");
  lingering_ = -1;

  const auto failed = [&](int error) {
    return std::unexpected(name + ": " + std::generic_category().message(error));
  };
  auto pipe = open_pipe();
  if (!pipe)
    return failed(pipe.error());
  pid_t pid = -1;
  if (const int error = start(command, pipe->writing.get(), pid))
    return failed(error);
  pipe->writing.close(); // or there would be no end of the output

  auto text = read_all(pipe->reading.get(), deadline, stop);
  if (text)
    if (const auto status = reap_until(pid, deadline, stop))
      return ProgramOutput{std::move(*text), *status};
  ::kill(-pid, SIGKILL);
  if (!reap_until(pid, Clock::now() + last_words, {}))
    lingering_ = pid;
  return std::unexpected(name + ": " + (text ? "did not end" : text.error()));
}

} // namespace datastream::host
