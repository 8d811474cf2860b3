#pragma once
/// A second process of a test: always killed and reaped.

#include "eventually.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char** environ;

namespace datastream::test {

/// Runs a program whose standard input and output are pipes to us.
class ChildProcess {
public:
  explicit ChildProcess(std::vector<std::string> command) {
    int to_child[2];
    int from_child[2];
    if (pipe2(to_child, O_CLOEXEC) != 0 || pipe2(from_child, O_CLOEXEC) != 0)
      throw std::runtime_error("pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to_child[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from_child[1], STDOUT_FILENO);
    std::vector<char*> arguments;
    for (std::string& word : command)
      arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int failed =
        posix_spawn(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(to_child[0]);
    close(from_child[1]);
    in_ = to_child[1];
    out_ = from_child[0];
    if (failed) {
      pid_ = -1;
      throw std::runtime_error("cannot start " + command[0]);
    }
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess() {
    if (pid_ > 0) {
      signal(SIGKILL);
      reap();
    }
    close(in_);
    close(out_);
  }

  pid_t id() const { return pid_; }
  void signal(int number) { ::kill(pid_, number); }
  /// Stops it, and returns when it has stopped.
  void freeze() {
    signal(SIGSTOP);
    int status = 0;
    while (waitpid(pid_, &status, WUNTRACED) < 0 && errno == EINTR) {
    }
  }
  /// Waits for its end; its exit code, or 128 and the signal.
  int reap() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  void write_line(std::string_view line) {
    const std::string text = std::string(line) + "\n";
    if (::write(in_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      throw std::runtime_error("the second process does not listen");
  }

  /// The next line of its output, or nothing: it has ended, or said nothing in time.
  std::optional<std::string> read_line(std::chrono::milliseconds limit = patience) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    for (;;) {
      if (const auto end = buffered_.find('\n'); end != std::string::npos) {
        std::string line = buffered_.substr(0, end);
        buffered_.erase(0, end + 1);
        return line;
      }
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          deadline - std::chrono::steady_clock::now());
      pollfd readable{out_, POLLIN, 0};
      if (left.count() <= 0 || ::poll(&readable, 1, static_cast<int>(left.count())) <= 0)
        return std::nullopt;
      char bytes[4096];
      const ssize_t got = ::read(out_, bytes, sizeof bytes);
      if (got <= 0)
        return std::nullopt;
      buffered_.append(bytes, static_cast<std::size_t>(got));
    }
  }

  /// Reads up to a line that begins with `word`; what follows the word. Throws when none comes.
  std::string expect(const std::string& word, std::chrono::milliseconds limit = patience) {
    while (const auto line = read_line(limit))
      if (line->starts_with(word))
        return line->size() > word.size() ? line->substr(word.size() + 1) : std::string();
    throw std::runtime_error("the second process never said '" + word + "'");
  }

private:
  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  std::string buffered_;
};

} // namespace datastream::test
