#pragma once
/// Signals and this library's own threads. For the library, not for programs.

#include <csignal>
#include <initializer_list>
#include <signal.h> // NOLINT(modernize-deprecated-headers): <csignal> lacks pthread_sigmask

namespace datastream::detail {

/// The program's signals are for the program's own threads. Make one of these around the start of a
/// thread: while it lives this thread is interrupted by none, and what it starts inherits that from
/// its first moment on. What a thread does to itself, for example by a wild pointer, is delivered.
class SignalsBlocked {
public:
  SignalsBlocked() noexcept {
    sigset_t signals;
    sigfillset(&signals);
    for (const int own : {SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP})
      sigdelset(&signals, own);
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

private:
  sigset_t before_{};
};

} // namespace datastream::detail
