#include "actor_system.hpp"
#include "pipe_model.hpp"
#include "scripts.hpp"

#include <middleman_test.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace datastream;
using namespace datastream::model_test;

TEST_CASE("whatever_is_done_to_actors_their_ledgers_add_up_and_the_invariants_hold") {
  test::TestSystem actors;
  CHECK(rc::check("actors", [&] {
    const Script script = *scripts(300);
    LocalActorSystem system(actors.system, script);
    run(system, script);
  }));
}

TEST_CASE("whatever_is_done_to_two_processes_their_ledgers_add_up_and_the_invariants_hold") {
  test::RemoteSystem actors;
  CHECK(rc::check("processes", [&] {
    const Script script = *scripts(100);
    ProcessSystem system(actors.system, script);
    run(system, script);
  }));
}
