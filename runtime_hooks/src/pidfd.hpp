#pragma once
/// The system's calls as glibc 2.36 declares them for C only.

#include <csignal>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace datastream {

/// A descriptor of a process, closed on exec. -1 and `errno` when there is none.
inline int open_pidfd(pid_t pid) noexcept {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

/// -1 and `errno` when it is not delivered.
inline int send_signal(int pidfd, int signal) noexcept {
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0));
}

} // namespace datastream
