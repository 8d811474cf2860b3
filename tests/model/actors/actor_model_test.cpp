#include "actor_system.hpp"
#include "pipe_model.hpp"
#include "scripts.hpp"

#include <middleman_test.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace datastream;
using namespace datastream::model_test;

namespace {

/// The runs have tried what they are for.
void check(const Reached& reached) {
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
  Reached reached;
  CHECK(rc::check("actors", [&] {
    const Script script = *scripts(300);
    LocalActorSystem system(actors.system, script, FanoutPlacement::in_endpoint);
    reached += run(system, script);
  }));
  check(reached);
}

TEST_CASE("the_same_holds_for_an_endpoint_whose_fanout_is_an_actor_of_its_own") {
  test::TestSystem actors;
  Reached reached;
  CHECK(rc::check("own fanout", [&] {
    const Script script = *scripts(300);
    LocalActorSystem system(actors.system, script, FanoutPlacement::own_actor);
    reached += run(system, script);
  }));
  check(reached);
}

TEST_CASE("whatever_is_done_to_two_processes_their_ledgers_add_up_and_the_invariants_hold") {
  test::RemoteSystem actors;
  Reached reached;
  CHECK(rc::check("processes", [&] {
    const Script script = *scripts(300);
    ProcessSystem system(actors.system, script);
    reached += run(system, script);
  }));
  check(reached);
}
