#include "spawn.hpp"

#include "pidfd.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <vector>

namespace datastream {
namespace {

using Kind = ProcessError::Kind;

constexpr int first_other_descriptor = STDERR_FILENO + 1;

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

/// As `exec` wants it; points into `words`.
std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (std::string& word : words)
    out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

struct Pipe {
  FileDescriptor reading;
  FileDescriptor writing;
};

/// Owns what a system call has returned, moved out of the way of the standard descriptors: this
/// program may have closed its own, and the child puts its own there. Errors: `errno`.
std::expected<FileDescriptor, int> beyond_standard(int fd) {
  FileDescriptor owned{fd};
  if (owned && fd < first_other_descriptor)
    owned = FileDescriptor{::fcntl(fd, F_DUPFD_CLOEXEC, first_other_descriptor)};
  if (!owned)
    return std::unexpected(errno);
  return owned;
}

std::expected<Pipe, int> open_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0)
    return std::unexpected(errno);
  auto reading = beyond_standard(fds[0]);
  auto writing = beyond_standard(fds[1]);
  if (!reading || !writing)
    return std::unexpected(reading ? writing.error() : reading.error());
  // Of this end alone: the child's writes block as it expects.
  if (::fcntl(reading->get(), F_SETFL, O_NONBLOCK) != 0)
    return std::unexpected(errno);
  return Pipe{std::move(*reading), std::move(*writing)};
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

/// What happens in the child before the program begins. Remembers the first failure.
class SpawnSettings {
public:
  SpawnSettings() {
    note(::posix_spawn_file_actions_init(&actions_));
    note(::posix_spawnattr_init(&attributes_));
    sigset_t all;
    sigset_t none;
    sigfillset(&all);
    sigemptyset(&none);
    note(::posix_spawnattr_setsigdefault(&attributes_, &all));
    note(::posix_spawnattr_setsigmask(&attributes_, &none));
    note(::posix_spawnattr_setpgroup(&attributes_, 0));
    note(::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                                      POSIX_SPAWN_SETPGROUP));
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  void open_null(int target, int flags) {
    note(::posix_spawn_file_actions_addopen(&actions_, target, "/dev/null", flags, 0));
  }
  void copy(int from, int target) {
    note(::posix_spawn_file_actions_adddup2(&actions_, from, target));
  }
  void enter(int directory) { note(::posix_spawn_file_actions_addfchdir_np(&actions_, directory)); }
  /// Also what other parts of this program forgot to mark as ours.
  void close_others() {
    note(::posix_spawn_file_actions_addclosefrom_np(&actions_, first_other_descriptor));
  }

  /// An error number, or 0.
  int spawn(pid_t& pid, char** arguments, char** variables) const {
    if (error_)
      return error_;
    return ::posix_spawnp(&pid, arguments[0], &actions_, &attributes_, arguments, variables);
  }

private:
  void note(int error) {
    if (error_ == 0)
      error_ = error;
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
  int error_ = 0;
};

/// Gives the child one of its outputs. Returns the ends to keep: the writing one until it runs.
std::expected<Pipe, int> arrange_output(SpawnSettings& settings, OutputMode mode, int target) {
  Pipe pipe;
  switch (mode) {
  case OutputMode::capture:
    if (auto opened = open_pipe())
      pipe = std::move(*opened);
    else
      return std::unexpected(opened.error());
    settings.copy(pipe.writing.get(), target);
    break;
  case OutputMode::discard:
    settings.open_null(target, O_WRONLY);
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

std::expected<SpawnedProcess, ProcessError> spawn(const ProcessCommand& command) {
  if (auto checked = check(command); !checked)
    return std::unexpected(std::move(checked.error()));
  const auto failed = [&command](Kind kind, int error) {
    return refuse(kind, "cannot start '" + command.argv.front() + "': " + reason(error));
  };

  SpawnSettings settings;
  settings.open_null(STDIN_FILENO, O_RDONLY);
  auto out = arrange_output(settings, command.standard_output, STDOUT_FILENO);
  if (!out)
    return failed(Kind::spawn_failed, out.error());
  auto err = arrange_output(settings, command.standard_error, STDERR_FILENO);
  if (!err)
    return failed(Kind::spawn_failed, err.error());
  FileDescriptor directory;
  if (command.working_directory) {
    auto opened = open_directory(*command.working_directory);
    if (!opened)
      return std::unexpected(std::move(opened.error()));
    directory = std::move(*opened);
    settings.enter(directory.get());
  }
  settings.close_others();

  std::vector<std::string> arguments = command.argv;
  std::vector<std::string> environment = variables(command.environment);
  pid_t pid = -1;
  if (const int error =
          settings.spawn(pid, pointers(arguments).data(), pointers(environment).data()))
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

void kill_and_reap(pid_t pid) noexcept {
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

} // namespace datastream
