#include "captured.hpp"

#include <doctest/doctest.h>

using namespace datastream;
using namespace datastream::test;

namespace {

/// What a stream has taken, as far as its frames tell.
SubmissionCounts arrived(CapturedStream& stream, std::string_view ending) {
  SubmissionCounts counts;
  for (const auto& [name, payload] : stream.frames())
    if (name.ends_with(ending)) {
      ++counts.accepted_frames;
      counts.accepted_bytes += payload.size();
    }
  return counts;
}

} // namespace

TEST_CASE("the_counts_of_a_runner_are_those_of_all_its_processes_and_of_those_that_never_ran") {
  CapturedStream stream;
  ProcessRunner runner{stream.producer()};
  CHECK(runner.counts() == ProcessCounts{});
  REQUIRE_FALSE(runner.start({.argv = {"/no/such/program"}, .label = "missing"}));
  CHECK(runner.counts().lifecycle.accepted_frames == 1);
  REQUIRE_FALSE(runner.start({.argv = {"true"}, .label = "?"})); // which has no channels
  for (const std::string label : {"a", "a", "b"}) {              // each one's handle goes
    const auto process = runner.start(child({"write", "1", "1000"}, label));
    REQUIRE(process);
    REQUIRE(process->wait(patience));
  }
  auto running = runner.start(child({"ignore_term"}, "c"));
  REQUIRE(running);
  REQUIRE(eventually([&] { return running->counts().standard_output.accepted_frames == 1; }));
  const ProcessCounts counts = runner.counts();
  CHECK(counts.standard_output == arrived(stream, ".stdout"));
  CHECK(counts.standard_error == arrived(stream, ".stderr"));
  CHECK(counts.lifecycle == arrived(stream, ".lifecycle"));
  CHECK(counts.standard_output.accepted_bytes == 3 * 1000 + std::string_view("ready").size());
  CHECK(counts.lifecycle.accepted_frames == 1 + 3 * 2 + 1);
}

TEST_CASE("what_is_refused_is_in_the_counts_of_a_runner_too") {
  CapturedStream stream;
  ProcessRunner runner{stream.producer()};
  {
    const auto process = runner.start(child({"exit", "0"}));
    REQUIRE(process);
    REQUIRE(process->wait(patience));
  }
  const ProcessCounts before = runner.counts();
  stream.endpoint().end_stream();
  REQUIRE_FALSE(runner.start({.argv = {"/no/such/program"}, .label = "child"}));
  ProcessCounts after = runner.counts();
  CHECK(after.lifecycle.refused_frames == before.lifecycle.refused_frames + 1);
  CHECK(after.lifecycle.refused_bytes > 0);
}
