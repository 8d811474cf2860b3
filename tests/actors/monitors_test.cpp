/// What is told of an actor's end, and who waits for it.
#include "actor_test.hpp"

#include <datastream/caf/monitors.hpp>

#include <caf/abstract_actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_registry.hpp>
#include <caf/event_based_actor.hpp>

#include <doctest/doctest.h>

#include <future>

using namespace datastream;
using namespace datastream::test;

namespace {

enum class Holds { nothing, system };

/// How many actors its system counts while those who watch an actor are told of its end.
std::size_t running_when_told(caf::actor_system& system, Holds holds) {
  const auto actor = system.spawn([holds](caf::event_based_actor* self) -> caf::behavior {
    if (holds == Holds::system)
      compat::hold_system_until_told(self);
    return {[](int number) { return number; }};
  });
  REQUIRE(ask<int>(system, actor, 7) == 7); // it has begun
  const auto told = std::make_shared<std::promise<std::size_t>>();
  caf::actor_cast<caf::abstract_actor*>(actor)->attach_functor(
      [told, &registry = system.registry()] { told->set_value(registry.running()); });
  stop(actor);
  return told->get_future().get();
}

} // namespace

TEST_CASE("a_system_counts_an_actor_that_holds_it_until_those_who_watch_it_were_told") {
  TestSystem test;
  const auto& registry = test.system.registry();
  const std::size_t before = registry.running();
  const auto settled = [&] { return eventually([&] { return registry.running() == before; }); };

  const std::size_t usual = running_when_told(test.system, Holds::nothing);
  CHECK(settled());
  CHECK(running_when_told(test.system, Holds::system) == usual + 1);
  CHECK(settled()); // and then no longer
}
