#pragma once
/// The numbers under which CAF knows the messages of the legacy envelope. Pass
/// `caf::id_block::datastream_envelope` besides `caf::id_block::datastream` to `CAF_MAIN`, or to
/// `datastream::compat::load` with a configuration.

#include <datastream/envelope_caf/messages.hpp>

#include <caf/type_id.hpp>

// Behind the block of `datastream/actors/type_ids.hpp`. Append only: numbers are on wires.
CAF_BEGIN_TYPE_ID_BLOCK(datastream_envelope, caf::first_custom_type_id + 4200)

CAF_ADD_TYPE_ID(datastream_envelope, (datastream::DatastreamFrame))
CAF_ADD_TYPE_ID(datastream_envelope, (datastream::SinkLedger))

// What a sink or bridge sends to itself, with `caf::error`: somebody who has sent it envelopes, as
// `caf::actor_addr`, is gone; or the consumer or fanout that it feeds is.
CAF_ADD_ATOM(datastream_envelope, datastream, sender_down_atom, "ds_senddn")
CAF_ADD_ATOM(datastream_envelope, datastream, taker_down_atom, "ds_takedn")

CAF_END_TYPE_ID_BLOCK(datastream_envelope)
