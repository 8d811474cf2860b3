#pragma once
/// Spawning actors whose every message is counted, whichever CAF this is.
///
///     auto a = spawn_observed<MyActor>(system, arguments...);
///     auto b = spawn_observed<MyActor, caf::detached>(system, arguments...);
///     auto c = spawn_observed(system, function, arguments...);
///     auto d = spawn_observed<caf::detached>(system, function, arguments...);
///
/// As `system.spawn`, for class-based, function-based, typed and stateful actors. Blocking ones
/// cannot be observed, for CAF shows their mailboxes to nobody; on CAF 1.x, where this is
/// `system.spawn`, they are spawned nevertheless. An actor of a system that nobody observes is
/// spawned as it is. A program names its function-based actors by making them stateful, with a
/// `name` in their state.

#include <datastream/caf/version.hpp>

// clang-format off
#include DATASTREAM_CAF_HEADER(datastream/hooks_caf/spawn_observed)
// clang-format on
