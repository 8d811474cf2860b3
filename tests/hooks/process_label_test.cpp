#include <datastream/hooks/process_label.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace datastream;

TEST_CASE("a_label_is_the_given_one_or_else_the_last_segment_of_the_command") {
  CHECK(process_label("Trainer", "/usr/bin/python3") == "trainer");
  const std::vector<std::pair<std::string, std::string>> commands{
      {"/usr/bin/python3", "python3"}, {"python3.11", "python3_11"},       {"./run", "run"},
      {"tools/run//", "run"},          {R"(C:\tools\Run.EXE)", "run_exe"}, {R"(tools\run/)", "run"},
  };
  for (const auto& [command, label] : commands)
    CHECK(process_label(std::nullopt, command) == label);
}

TEST_CASE("a_label_is_normalised") {
  const std::vector<std::pair<std::string, std::string>> labels{
      {"  GPU Trainer 7  ", "gpu_trainer_7"},
      {"a__b___c", "a_b_c"},
      {"__a__", "a"},
      {"a-b", "a-b"},
      {"-", "-"},
      {"a.b/c", "a_b_c"},
      {"M\xc3\xbcller", "m_ller"},
      {std::string("a\0b", 3), "a_b"},
      {"\xff\xfe"
       "a",
       "a"},
  };
  for (const auto& [given, label] : labels)
    CHECK(process_label(given, "unused") == label);
}

TEST_CASE("a_label_of_which_nothing_is_left_is_an_error") {
  for (const std::string given : {"", "  ", "___", "...", "\xc3\xbc"}) {
    const auto label = process_label(given, "/bin/true");
    REQUIRE_FALSE(label);
    CHECK(label.error().kind == ProcessError::Kind::invalid_label);
  }
  for (const std::string command : {"", "/", "\\/", "/..."})
    CHECK_FALSE(process_label(std::nullopt, command));
}

TEST_CASE("every_label_is_one_segment_of_a_channel_name_and_its_own_label") {
  CHECK(rc::check([](const std::string& given) {
    const auto label = process_label(given, {});
    if (!label)
      return;
    RC_ASSERT(!label->empty());
    RC_ASSERT(std::ranges::all_of(*label, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    }));
    RC_ASSERT(process_label(*label, {}).value() == *label);
  }));
}

TEST_CASE("a_label_belongs_to_one_live_process_of_a_stream") {
  const StreamId stream{"node-a", {7}};
  {
    const auto first = ProcessLabelReservation::reserve(stream, "trainer");
    REQUIRE(first);
    const auto second = ProcessLabelReservation::reserve(stream, "trainer");
    REQUIRE_FALSE(second);
    CHECK(second.error().kind == ProcessError::Kind::label_in_use);
    CHECK(second.error().message.find("proc.trainer.lifecycle") != std::string::npos);
    CHECK(second.error().message.find("node-a#7") != std::string::npos);

    CHECK(ProcessLabelReservation::reserve(stream, "other"));
    CHECK(ProcessLabelReservation::reserve(StreamId{"node-a", {8}}, "trainer"));
    CHECK(ProcessLabelReservation::reserve(StreamId{"node-b", {7}}, "trainer"));
  }
  auto third = ProcessLabelReservation::reserve(stream, "trainer");
  REQUIRE(third);
  {
    const ProcessLabelReservation moved = std::move(*third);
    CHECK_FALSE(ProcessLabelReservation::reserve(stream, "trainer"));
  }
  CHECK(ProcessLabelReservation::reserve(stream, "trainer"));
}
