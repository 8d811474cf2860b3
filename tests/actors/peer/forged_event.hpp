#pragma once
/// Deliveries as somebody writes them who does not use our library: what an `EventBatch` could not
/// hold. How CAF is talked into it differs between its versions.

#include <datastream/actors/inspect.hpp>

#include <caf/actor_system_config.hpp>
#include <caf/message.hpp>

#include <cstdint>

/// For before our message types are made known. From then on this process sends no `EventBatch`: on
/// CAF 1.x it has given up that type's number to events of others.
void announce_forged_events(caf::actor_system_config& config);

/// A delivery whose event travels as an `EventBatch` does.
caf::message forged_delivery(std::uint64_t token, const datastream::wire::Event& event);
