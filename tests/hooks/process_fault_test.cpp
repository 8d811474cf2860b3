/// An output that cannot be read. A pipe never is one; a terminal whose other side is closed is.

#include "../../runtime_hooks/src/supervised_process.hpp"

#include "captured.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <unistd.h>

using namespace datastream;
using namespace datastream::test;

namespace {

/// The reading side of a terminal into which `text` was written before its other side was closed.
FileDescriptor closed_terminal(std::string_view text) {
  FileDescriptor terminal{::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)};
  REQUIRE(terminal);
  REQUIRE(::grantpt(terminal.get()) == 0);
  REQUIRE(::unlockpt(terminal.get()) == 0);
  std::array<char, 64> name{};
  REQUIRE(::ptsname_r(terminal.get(), name.data(), name.size()) == 0);
  const FileDescriptor other{::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC)};
  REQUIRE(other);
  REQUIRE(::write(other.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  return terminal;
}

} // namespace

TEST_CASE("an_observer_that_throws_anything_loses_the_chunk_and_nothing_else") {
  struct Thrower final : ProcessOutputObserver {
    void on_output(std::string_view, bool is_stderr, std::string_view) override {
      if (is_stderr)
        throw std::runtime_error("no reason");
      throw 42; // NOLINT(*-exception-*): that is the point
    }
  };
  CapturedStream stream;
  ProcessRunner runner{stream.producer(), std::make_shared<Thrower>()};
  for (const bool to_stderr : {false, true}) {
    const auto process = runner.start(child({"write", to_stderr ? "2" : "1", "10"}));
    REQUIRE(process);
    REQUIRE(process->wait(patience));
    CHECK(process->exit_status()->success());
    CHECK(stream.text("proc.child.lifecycle")
              .find(to_stderr ? R"("error":"the observer of its output has thrown: no reason")"
                              : R"("error":"the observer of its output has thrown")") !=
          std::string::npos);
  }
}

TEST_CASE("an_output_that_cannot_be_read_is_a_fault_after_what_could_be_and_ends_the_process") {
  CapturedStream stream;
  auto channels = ProcessChannels::open(stream.producer(), "child");
  REQUIRE(channels);
  boost::asio::io_context loop;
  int ends = 0;
  const auto process = std::make_shared<SupervisedProcess>(loop, *channels, nullptr,
                                                           [&](const ProcessExit&) { ++ends; });
  // Somebody else has reaped it: only its output is left to be watched.
  REQUIRE(process->watch({.pid = -1, .standard_output = closed_terminal("last words")}));
  process->begin([] {});
  loop.run();

  CHECK(process->ended());
  CHECK(ends == 1);
  CHECK(stream.text("proc.child.stdout") == "last words");
  CHECK(stream.text("proc.child.lifecycle") ==
        R"({"event":"exited","status":{"kind":"unknown"}})"
        R"({"event":"error","error":"reading its output: Input/output error"})");
}
