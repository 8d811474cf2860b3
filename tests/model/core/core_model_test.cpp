#include "core_system.hpp"
#include "must.hpp"
#include "pipe_model.hpp"
#include "scripts.hpp"
#include "wrong_systems.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

using namespace datastream::model_test;

namespace {

/// What is wrong with a system of this kind, as the model says; empty: nothing.
template <class SystemType>
std::string fault(const Script& script) {
  SystemType system(script);
  try {
    run(system, script);
    return {};
  } catch (const Violation& violation) {
    return violation.what();
  }
}

/// The same of some scripts, which are always the same: what one does not meet another one does.
template <class SystemType>
std::string fault() {
  std::string found;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    found += fault<SystemType>(draw_script(seed, 1000));
  return found;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("whatever_is_done_to_a_pipe_its_ledgers_add_up_and_its_invariants_hold") {
  // Its name makes RapidCheck tell how to reproduce a failure.
  CHECK(rc::check("pipe", [] {
    const Script script = *scripts(1000);
    CoreSystem system(script);
    run(system, script);
  }));
}

TEST_CASE("the_model_finds_no_fault_where_there_is_none") {
  CHECK(fault<CoreSystem>() == "");
}

TEST_CASE("the_model_notices_a_count_that_is_lost") {
  CHECK(contains(fault<LosesACount>(), "submissions refused"));
}

TEST_CASE("the_model_notices_a_frame_that_is_lost") {
  CHECK(contains(fault<LosesAFrame>(), "copies acknowledged by a reader"));
}

TEST_CASE("the_model_notices_a_frame_that_comes_twice") {
  CHECK(contains(fault<DeliversAFrameTwice>(),
                 "no frame is delivered that this reader had no room for, or had before"));
}

TEST_CASE("the_model_notices_a_declaration_behind_its_frames") {
  CHECK(contains(fault<DeclaresTooLate>(),
                 "everything is declared before frames that come after it"));
}

TEST_CASE("the_model_notices_frames_out_of_order") {
  CHECK(contains(fault<ReordersFrames>(), "position of a delivered frame"));
}

TEST_CASE("the_model_notices_positions_given_to_refused_frames") {
  CHECK(contains(fault<LeavesAHole>(), "positions follow the order of the queue"));
}

TEST_CASE("the_model_notices_a_reader_that_loses_what_another_had_no_room_for") {
  CHECK(
      contains(fault<LetsReadersDisturbEachOther>(), "nothing is dropped that there is room for"));
}

TEST_CASE("the_model_notices_a_store_in_which_the_last_one_wins") {
  CHECK(contains(fault<StoresTheLastOne>(), "a page shows what is stored"));
}

TEST_CASE("the_model_notices_counts_that_are_forgotten_with_their_stream") {
  CHECK(contains(fault<ForgetsCounts>(), "sums over the streams that were forgotten"));
}

TEST_CASE("the_model_notices_lives_that_merge") {
  CHECK(contains(fault<MergesLives>(), "ledger of a stored stream"));
}

TEST_CASE("a_script_that_fails_shrinks_to_the_few_actions_that_matter") {
  rc::Shrinkable<Script> failing = scripts(1000)(rc::Random(1));
  REQUIRE(fault<DeclaresTooLate>(failing.value()) != "");
  const auto smaller = [&]() -> std::optional<rc::Shrinkable<Script>> {
    auto candidates = failing.shrinks();
    while (const auto candidate = candidates.next())
      if (fault<DeclaresTooLate>(candidate->value()) != "")
        return *candidate;
    return std::nullopt;
  };
  while (const auto shrunk = smaller())
    failing = *shrunk;
  // A reader, a channel and a frame; that all is drained and read happens at the end anyhow.
  CAPTURE(failing.value());
  CHECK(failing.value().actions.size() <= 3);
}

TEST_CASE("scripts_reach_everything_that_the_model_judges") {
  Reached reached;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Script script = draw_script(seed, 1000);
    CoreSystem system(script);
    reached += run(system, script);
  }
  CHECK(reached.lives > 40);
  CHECK(reached.refused.mux_frames_full > 100);
  CHECK(reached.refused.mux_bytes_full > 100);
  CHECK(reached.refused.stream_ended > 100);
  CHECK(reached.refused.payload_too_large > 0);
  CHECK(reached.assigned > 1000);
  CHECK(reached.bitbucketed > 10);
  CHECK(reached.drained_directly > 100);
  for (const auto& readers : {reached.readers_of_node, reached.readers_of_relay}) {
    CHECK(readers.acknowledged > 100);
    CHECK(readers.dropped > 100);
    CHECK(readers.abandoned > 100);
  }
  CHECK(reached.after_end_at_relay > 10);
  CHECK(reached.stored > 1000);
  CHECK(reached.duplicates > 100);
  CHECK(reached.conflicts > 10);
  CHECK(reached.late_for_evicted > 10);
  CHECK(reached.evicted > 100);
  CHECK(reached.missing > 100);
  CHECK(reached.forgotten > 10);
}
