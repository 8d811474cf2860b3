#pragma once
/// A typed actor, in the words of CAF 0.17.6.

#include <caf/typed_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace datastream::test {

using TypedWorker = caf::typed_actor<caf::reacts_to<int>>;

} // namespace datastream::test
