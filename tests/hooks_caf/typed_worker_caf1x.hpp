#pragma once
/// A typed actor, in the words of CAF 1.x.

#include <caf/typed_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace datastream::test {

using TypedWorker = caf::typed_actor<caf::result<void>(int)>;

} // namespace datastream::test
