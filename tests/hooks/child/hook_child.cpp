// The program that tests of the process runner run. Its first argument says how it behaves.

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace {

using Arguments = std::vector<std::string>;

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR)
      std::exit(100);
    if (written > 0)
      bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void say(const std::string& text) {
  write_all(STDOUT_FILENO, text);
}

void block_term() {
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, nullptr);
}

void wait_for_term() {
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  int signal = 0;
  sigwait(&term, &signal);
}

[[noreturn]] void wait_for_ever() {
  for (;;)
    ::pause();
}

int number(const Arguments& words, std::size_t index) {
  return std::stoi(words.at(index));
}

/// write FD BYTES: bytes of all values, the same ones each time, without regard to lines.
int write_bytes(const Arguments& words) {
  const int fd = number(words, 1);
  auto left = static_cast<std::size_t>(number(words, 2));
  std::uint32_t state = 1;
  std::string block;
  while (left > 0) {
    block.clear();
    for (std::size_t i = 0; i < std::min<std::size_t>(left, 50'000); ++i) {
      state = state * 1664525U + 1013904223U;
      block += static_cast<char>(state >> 24U);
    }
    write_all(fd, block);
    left -= block.size();
  }
  return 0;
}

/// fill_pipe BYTES: makes its standard output's pipe large enough for all of them first; twice, for
/// pages are not filled to their ends.
int fill_pipe(const Arguments& words) {
  if (::fcntl(STDOUT_FILENO, F_SETPIPE_SZ, 2 * number(words, 1)) < 0)
    return 101;
  return write_bytes({"write", "1", words.at(1)});
}

/// Without end, and without a line end.
int flood(const Arguments&) {
  const std::string block(100'000, 'x');
  for (;;)
    say(block);
}

int exit_with(const Arguments& words) {
  say("leaving");
  return number(words, 1);
}

int die_of(const Arguments& words) {
  ::raise(number(words, 1));
  return 0;
}

/// Ends when asked to.
int obey(const Arguments&) {
  block_term();
  say("ready");
  wait_for_term();
  say(" goodbye");
  return 4;
}

int ignore_term(const Arguments&) {
  std::signal(SIGTERM, SIG_IGN);
  say("ready");
  wait_for_ever();
}

int close_outputs(const Arguments&) {
  block_term();
  say("closing");
  ::close(STDOUT_FILENO);
  ::close(STDERR_FILENO);
  wait_for_term();
  return 7;
}

/// Stops itself, as a job that wants the terminal does.
int stop_itself(const Arguments&) {
  block_term();
  say("ready");
  ::raise(SIGSTOP);
  wait_for_term();
  return 9;
}

/// Leaves a process behind that keeps the outputs, and writes again when asked to end.
int leave_heir(const Arguments&) {
  block_term();
  const pid_t heir = ::fork();
  if (heir == 0) {
    wait_for_term();
    say(" late");
    ::_exit(0);
  }
  say("heir " + std::to_string(heir));
  return 3;
}

/// The same with a process that has left the group too.
int leave_daemon(const Arguments&) {
  int ready[2];
  if (::pipe(ready) != 0)
    return 101;
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    ::setsid();
    write_all(ready[1], "x");
    wait_for_ever();
  }
  char byte = 0;
  if (::read(ready[0], &byte, 1) != 1)
    return 101;
  say("daemon " + std::to_string(daemon));
  return 0;
}

/// Leaves its own group for that of a helper.
int leave_group(const Arguments&) {
  const pid_t helper = ::fork();
  if (helper == 0)
    wait_for_ever();
  if (::setpgid(helper, helper) != 0 || ::setpgid(0, helper) != 0)
    return 101;
  say("helper " + std::to_string(helper));
  wait_for_ever();
}

/// What it was given: signals, descriptors, group.
int report(const Arguments&) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("SigBlk:") || line.starts_with("SigIgn:"))
      // Signals 32 and 33 belong to the C library.
      std::cout << line.substr(0, 7) << " " << std::hex
                << (std::stoull(line.substr(7), nullptr, 16) & ~0x180000000ULL) << std::dec << "\n";
  status.close();
  DIR* directory = ::opendir("/proc/self/fd");
  std::cout << "descriptors:";
  std::map<int, bool> open;
  while (const dirent* entry = ::readdir(directory))
    if (entry->d_name[0] != '.' && std::atoi(entry->d_name) != ::dirfd(directory))
      open[std::atoi(entry->d_name)] = true;
  ::closedir(directory);
  for (const auto& [fd, is_open] : open)
    std::cout << " " << fd;
  char target[64] = {};
  if (::readlink("/proc/self/fd/0", target, sizeof target - 1) < 0)
    return 101;
  std::cout << "\nstdin: " << target << "\n"
            << "own group: " << (::getpgrp() == ::getpid()) << "\n";
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  const std::map<std::string, int (*)(const Arguments&)> behaviours{
      {"write", write_bytes},
      {"fill_pipe", fill_pipe},
      {"flood", flood},
      {"exit", exit_with},
      {"die", die_of},
      {"obey", obey},
      {"ignore_term", ignore_term},
      {"close_outputs", close_outputs},
      {"stop_itself", stop_itself},
      {"leave_heir", leave_heir},
      {"leave_daemon", leave_daemon},
      {"leave_group", leave_group},
      {"report", report},
  };
  const Arguments words(argv + 1, argv + argc);
  return behaviours.at(words.at(0))(words);
}
