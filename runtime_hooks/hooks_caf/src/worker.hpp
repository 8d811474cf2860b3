#pragma once
/// On which of CAF's workers an actor runs.

#include <caf/fwd.hpp>

#include <cstddef>

namespace datastream::detail {

/// Stands for all threads that are no workers of the scheduler, which detached actors have.
inline constexpr std::size_t detached_worker = 65'535;

/// For the actor's own thread.
std::size_t worker_of(const caf::local_actor& self);

} // namespace datastream::detail
