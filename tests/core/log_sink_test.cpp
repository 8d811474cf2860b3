#include "replaced_log_sink.hpp"

#include <datastream/log_sink.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace datastream;
using namespace datastream::test;

TEST_CASE("a_program_s_own_log_sink_gets_every_line_one_at_a_time") {
  const ReplacedLogSink kept(nullptr);
  std::vector<std::string> lines; // unguarded: calls must exclude each other
  set_log_sink([&](LogSeverity severity, std::string_view text) {
    lines.push_back(std::string(to_string(severity)) + " " + std::string(text));
  });
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([] {
        for (int j = 0; j < 100; ++j)
          log_message(LogSeverity::warning, "text");
      });
  }
  CHECK(lines == std::vector<std::string>(400, "warning text"));
  const LogSink mine = set_log_sink(nullptr);
  CHECK(mine);
  log_message(LogSeverity::error, "into the void");
  CHECK(lines.size() == 400);
}

TEST_CASE("a_log_sink_that_throws_harms_nobody") {
  const ReplacedLogSink kept(nullptr);
  set_log_sink([](LogSeverity, std::string_view) { throw std::runtime_error("full"); });
  log_message(LogSeverity::info, "text");
  CHECK(to_string(LogSeverity::info) == "info");
}
