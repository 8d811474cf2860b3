/// Threads that the hooks start.

#include "captured.hpp"
#include "own_threads.hpp"
#include "temporary_folder.hpp"

#include <datastream/hooks/host_sampler.hpp>

#include <doctest/doctest.h>

#include <csignal>
#include <set>
#include <string>
#include <thread>

using namespace datastream;
using namespace datastream::test;

namespace {

sigset_t own_mask() {
  sigset_t mask;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  return mask;
}

} // namespace

TEST_CASE("threads_of_hooks_take_no_signal_of_the_program_from_their_first_moment_on") {
  CapturedStream stream;
  const sigset_t mask_before = own_mask();
  std::thread([] {}).join(); // with the first one a sanitizer starts one of its own
  const std::set<std::string> before = threads();
  HostSampler sampler(stream.producer());
  ProcessRunner runner{stream.producer()};
  std::size_t expected = 0;
  SUBCASE("those of a sampler") {
    sampler.start();
    expected = 3;
  }
  SUBCASE("that of a runner") {
    REQUIRE(runner.start(child({"exit", "0"})));
    expected = 1;
  }
  std::size_t found = 0;
  for (const std::string& thread : threads()) {
    if (before.contains(thread))
      continue;
    ++found;
    // What it does to itself is reported as anywhere else, once it is past the C library's begin.
    CHECK(eventually([&] { return !blocks(thread, SIGSEGV); }));
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGUSR1, SIGALRM, SIGPIPE})
      CHECK(blocks(thread, signal));
  }
  CHECK(found == expected);
  const sigset_t mask_after = own_mask();
  for (int signal = 1; signal < NSIG; ++signal)
    CHECK(sigismember(&mask_after, signal) == sigismember(&mask_before, signal));
}
