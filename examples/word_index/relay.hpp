#pragma once
/// Passes a stream on to a fanout.

#include <datastream/actors/endpoint_ref.hpp>

#include <caf/actor.hpp>
#include <caf/behavior.hpp>
#include <caf/fwd.hpp>

/// Collects from `node` and re-publishes through `fanout`. Tells its owner `subscribed_atom`, then
/// `relayed_atom` when the stream has ended and the fanout's subscribers have all of it, or
/// `lost_atom` and why when the node is gone before.
caf::behavior relay(caf::event_based_actor* self, datastream::EndpointRef node, caf::actor fanout,
                    caf::actor owner);
