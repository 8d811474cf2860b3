#include "child_setup.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace datastream {
namespace {

constexpr int first_other_descriptor = STDERR_FILENO + 1;

} // namespace

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (std::string& word : words)
    out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

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
  if (::fcntl(reading->get(), F_SETFL, O_NONBLOCK) != 0) // of this end alone
    return std::unexpected(errno);
  return Pipe{std::move(*reading), std::move(*writing)};
}

ChildSetup::ChildSetup() {
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
  note(::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0));
}

ChildSetup::~ChildSetup() {
  ::posix_spawn_file_actions_destroy(&actions_);
  ::posix_spawnattr_destroy(&attributes_);
}

void ChildSetup::discard(int output) {
  note(::posix_spawn_file_actions_addopen(&actions_, output, "/dev/null", O_WRONLY, 0));
}

void ChildSetup::copy(int from, int target) {
  note(::posix_spawn_file_actions_adddup2(&actions_, from, target));
}

void ChildSetup::enter(int directory) {
  note(::posix_spawn_file_actions_addfchdir_np(&actions_, directory));
}

int ChildSetup::spawn(pid_t& pid, char** arguments, char** variables) {
  note(::posix_spawn_file_actions_addclosefrom_np(&actions_, first_other_descriptor));
  if (error_)
    return error_;
  return ::posix_spawnp(&pid, arguments[0], &actions_, &attributes_, arguments, variables);
}

void ChildSetup::note(int error) {
  if (error_ == 0)
    error_ = error;
}

} // namespace datastream
