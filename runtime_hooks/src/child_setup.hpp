#pragma once
/// What a child process finds when it begins, whoever starts it.

#include "file_descriptor.hpp"

#include <expected>
#include <spawn.h>
#include <string>
#include <sys/types.h>
#include <vector>

namespace datastream {

/// As `exec` wants it; points into `words`.
std::vector<char*> pointers(std::vector<std::string>& words);

/// Owns what a system call has returned, moved out of the way of the standard descriptors: this
/// program may have closed its own, and the child puts its own there. Errors: `errno`.
std::expected<FileDescriptor, int> beyond_standard(int fd);

/// From a child to this program. Both ends are closed on exec.
struct Pipe {
  FileDescriptor reading; ///< never blocks
  FileDescriptor writing; ///< blocks, as a child expects
};

/// Errors: `errno`.
std::expected<Pipe, int> open_pipe();

/// Default signal dispositions, an empty signal mask, a process group of its own, and no input.
/// Remembers the first failure, which `spawn` returns.
class ChildSetup {
public:
  ChildSetup();
  ChildSetup(const ChildSetup&) = delete;
  ChildSetup& operator=(const ChildSetup&) = delete;
  ~ChildSetup();

  void discard(int output);
  void copy(int from, int target);
  void enter(int directory);

  /// Starts the program that the first argument names, with none of this program's descriptors but
  /// the standard ones: also without those that its other parts forgot to mark. Returns an error
  /// number, or 0. Both arrays end with null.
  int spawn(pid_t& pid, char** arguments, char** variables);

private:
  void note(int error);

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
  int error_ = 0;
};

} // namespace datastream
