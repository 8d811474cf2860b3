#include "spawn.hpp"

#include "child_setup.hpp"
#include "pidfd.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <vector>

namespace datastream {
namespace {

using Kind = ProcessError::Kind;

std::string reason(int error) {
  return std::generic_category().message(error);
}

std::unexpected<ProcessError> refuse(Kind kind, std::string message) {
  return std::unexpected(ProcessError{kind, std::move(message)});
}

bool has_zero_byte(std::string_view text) {
  return text.find('\0') != std::string_view::npos;
}

std::expected<void, ProcessError> check(const ProcessCommand& command) {
  if (command.argv.empty() || command.argv.front().empty())
    return refuse(Kind::invalid_command, "no program is named");
  if (std::ranges::any_of(command.argv, has_zero_byte))
    return refuse(Kind::invalid_command,
                  "a zero byte in an argument of '" + command.argv.front().substr(0, 256) + "'");
  for (const auto& [name, value] : command.environment.changes)
    if (name.empty() || name.find('=') != std::string::npos || has_zero_byte(name) ||
        (value && has_zero_byte(*value)))
      return refuse(Kind::invalid_command, "not an environment variable: '" + name + "'");
  return {};
}

/// `NAME=value` of each variable.
std::vector<std::string> variables(const ProcessEnvironment& environment) {
  std::vector<std::string> out;
  if (environment.inherit)
    for (char** variable = environ; variable && *variable; ++variable) {
      const std::string_view text = *variable;
      if (!environment.changes.contains(std::string(text.substr(0, text.find('=')))))
        out.emplace_back(text);
    }
  for (const auto& [name, value] : environment.changes)
    if (value)
      out.push_back(name + '=' + *value);
  return out;
}

std::expected<FileDescriptor, ProcessError> open_directory(const std::filesystem::path& path) {
  const auto failed = [&path](int error) {
    return refuse(Kind::working_directory,
                  "working directory '" + path.native() + "': " + reason(error));
  };
  if (has_zero_byte(path.native()))
    return failed(EINVAL);
  auto directory = beyond_standard(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory)
    return failed(directory.error());
  if (::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) != 0)
    return failed(errno);
  return std::move(*directory);
}

/// Gives the child one of its outputs. Returns the ends to keep: the writing one until it runs.
std::expected<Pipe, int> arrange_output(ChildSetup& setup, OutputMode mode, int target) {
  Pipe pipe;
  switch (mode) {
  case OutputMode::capture:
    if (auto opened = open_pipe())
      pipe = std::move(*opened);
    else
      return std::unexpected(opened.error());
    setup.copy(pipe.writing.get(), target);
    break;
  case OutputMode::discard:
    setup.discard(target);
    break;
  case OutputMode::inherit:
    break;
  }
  return pipe;
}

Kind kind_of_failure(int error) {
  switch (error) {
  case ENOENT:
  case ENOTDIR:
    return Kind::not_found;
  case EACCES:
  case EISDIR:
  case ENOEXEC:
    return Kind::not_executable;
  default:
    return Kind::spawn_failed;
  }
}

} // namespace

ProcessExit exit_of(const siginfo_t& info) noexcept {
  return {info.si_code == CLD_EXITED ? ProcessExit::Kind::code : ProcessExit::Kind::signal,
          info.si_status};
}

std::expected<SpawnedProcess, ProcessError> spawn(const ProcessCommand& command) {
  if (auto checked = check(command); !checked)
    return std::unexpected(std::move(checked.error()));
  const auto failed = [&command](Kind kind, int error) {
    return refuse(kind, "cannot start '" + command.argv.front() + "': " + reason(error));
  };

  ChildSetup setup;
  auto out = arrange_output(setup, command.standard_output, STDOUT_FILENO);
  if (!out)
    return failed(Kind::spawn_failed, out.error());
  auto err = arrange_output(setup, command.standard_error, STDERR_FILENO);
  if (!err)
    return failed(Kind::spawn_failed, err.error());
  FileDescriptor directory;
  if (command.working_directory) {
    auto opened = open_directory(*command.working_directory);
    if (!opened)
      return std::unexpected(std::move(opened.error()));
    directory = std::move(*opened);
    setup.enter(directory.get());
  }

  std::vector<std::string> arguments = command.argv;
  std::vector<std::string> environment = variables(command.environment);
  pid_t pid = -1;
  if (const int error = setup.spawn(pid, pointers(arguments).data(), pointers(environment).data()))
    return failed(kind_of_failure(error), error);

  // We have not reaped it, so its number is still its own; unless this program ignores SIGCHLD or
  // waits for any child, and it has ended already.
  auto pidfd = beyond_standard(open_pidfd(pid)); // closed on exec by definition
  if (!pidfd && pidfd.error() != ESRCH) {
    kill_and_reap(pid);
    return failed(Kind::spawn_failed, pidfd.error());
  }
  return SpawnedProcess{pid, std::move(pidfd).value_or(FileDescriptor{}), std::move(out->reading),
                        std::move(err->reading)};
}

ProcessExit kill_and_reap(pid_t pid) noexcept {
  ::kill(-pid, SIGKILL);
  if (::kill(pid, SIGKILL) != 0)
    return {};
  siginfo_t info{};
  int result = 0;
  do
    result = ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED);
  while (result != 0 && errno == EINTR);
  return result == 0 ? exit_of(info) : ProcessExit{};
}

} // namespace datastream
