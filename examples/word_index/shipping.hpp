#pragma once
/// What the node sends over the legacy envelope: its stream, to a sink in the collector and to a
/// peer over UDP.

#include <datastream/actors/endpoint.hpp>

#include <caf/actor.hpp>
#include <caf/scoped_actor.hpp>

#include <cstdint>

/// Answers `ship_atom` and `shipped_atom` until `coordinator` has ended. Both may block, so they
/// are for the thread that owns `node`.
void ship_until_down(caf::scoped_actor& self, datastream::Endpoint& node, std::uint16_t peer_port,
                     const caf::actor& coordinator);
