#include "actor_system.hpp"
#include "pipe_model.hpp"
#include "scripts.hpp"

#include <middleman_test.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <memory>

using namespace datastream;
using namespace datastream::model_test;

namespace {

/// Runs scripts on systems that `make(script)` makes; they have tried what they are for.
template <class MakeSystem>
void check_with(const char* name, MakeSystem make) {
  Reached reached;
  CHECK(rc::check(name, [&] {
    const Script script = *scripts(300);
    auto system = make(script);
    reached += run(*system, script);
  }));
  CHECK(reached.lives > 20);
  CHECK(reached.refused.total() > 100);
  CHECK(reached.assigned > 100);
  for (const auto& readers : {reached.readers_of_node, reached.readers_of_relay}) {
    CHECK(readers.acknowledged > 10);
    CHECK(readers.dropped > 10);
    CHECK(readers.abandoned > 0);
  }
  CHECK(reached.stored > 100);
  CHECK(reached.duplicates > 10);
  CHECK(reached.missing > 10);
}

} // namespace

TEST_CASE("whatever_is_done_to_actors_their_ledgers_add_up_and_the_invariants_hold") {
  test::TestSystem actors;
  check_with("actors", [&](const Script& script) {
    return std::make_unique<LocalActorSystem>(actors.system, script, FanoutPlacement::in_endpoint);
  });
}

TEST_CASE("the_same_holds_for_an_endpoint_whose_fanout_is_an_actor_of_its_own") {
  test::TestSystem actors;
  check_with("own fanout", [&](const Script& script) {
    return std::make_unique<LocalActorSystem>(actors.system, script, FanoutPlacement::own_actor);
  });
}

TEST_CASE("whatever_is_done_to_two_processes_their_ledgers_add_up_and_the_invariants_hold") {
  test::RemoteSystem actors;
  check_with("processes", [&](const Script& script) {
    return std::make_unique<ProcessSystem>(actors.system, script);
  });
}
