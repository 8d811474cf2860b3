#include "core_system.hpp"
#include "pipe_model.hpp"
#include "scripts.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace datastream::model_test;

TEST_CASE("whatever_is_done_to_a_pipe_its_ledgers_add_up_and_its_invariants_hold") {
  CHECK(rc::check([] {
    const Script script = *scripts(1000);
    CoreSystem system(script);
    run(system, script);
  }));
}
