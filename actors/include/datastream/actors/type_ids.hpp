#pragma once
/// The numbers and names under which CAF knows our messages. Pass `caf::id_block::datastream` to
/// `CAF_MAIN`, or to `datastream::compat::load` with a configuration.

#include <datastream/actors/inspect.hpp>

#include <datastream/caf/error_enum.hpp>

#include <caf/type_id.hpp>

// Far behind a program's own block at `first_custom_type_id`. Append only: numbers are on wires.
CAF_BEGIN_TYPE_ID_BLOCK(datastream, caf::first_custom_type_id + 4000)

CAF_ADD_TYPE_ID(datastream, (datastream::StreamId))
CAF_ADD_TYPE_ID(datastream, (datastream::Position))
CAF_ADD_TYPE_ID(datastream, (datastream::ChannelId))
CAF_ADD_TYPE_ID(datastream, (datastream::SubscriptionId))
CAF_ADD_TYPE_ID(datastream, (datastream::ChannelContent))
CAF_ADD_TYPE_ID(datastream, (datastream::SubscriptionRequest))
CAF_ADD_TYPE_ID(datastream, (datastream::DatastreamSnapshot))
CAF_ADD_TYPE_ID(datastream, (datastream::Subscribe))
CAF_ADD_TYPE_ID(datastream, (datastream::SubscriptionStart))
CAF_ADD_TYPE_ID(datastream, (datastream::EventBatch))
CAF_ADD_TYPE_ID(datastream, (datastream::EndpointTick))
CAF_ADD_TYPE_ID(datastream, (datastream::PipeLedger))
CAF_ADD_TYPE_ID(datastream, (datastream::IngestLedger))
CAF_ADD_TYPE_ID(datastream, (datastream::FramePage))
CAF_ADD_TYPE_ID(datastream, (std::vector<datastream::StreamId>))
CAF_ADD_TYPE_ID(datastream, (datastream::ConsumerLedger))

// The texts have at most ten characters, which is what CAF 0.17.6 tells apart.
CAF_ADD_ATOM(datastream, datastream, subscribe_atom, "ds_subscr")
CAF_ADD_ATOM(datastream, datastream, unsubscribe_atom, "ds_unsub")
CAF_ADD_ATOM(datastream, datastream, event_atom, "ds_event")
CAF_ADD_ATOM(datastream, datastream, acknowledge_atom, "ds_ack")
CAF_ADD_ATOM(datastream, datastream, register_atom, "ds_reg")
CAF_ADD_ATOM(datastream, datastream, submit_atom, "ds_submit")
CAF_ADD_ATOM(datastream, datastream, tick_atom, "ds_tick")
CAF_ADD_ATOM(datastream, datastream, poll_atom, "ds_poll")
CAF_ADD_ATOM(datastream, datastream, health_atom, "ds_health")
CAF_ADD_ATOM(datastream, datastream, ledger_atom, "ds_ledger")
CAF_ADD_ATOM(datastream, datastream, snapshot_atom, "ds_snap")
CAF_ADD_ATOM(datastream, datastream, end_atom, "ds_end")
CAF_ADD_ATOM(datastream, datastream, settle_atom, "ds_settle")
CAF_ADD_ATOM(datastream, datastream, down_atom, "ds_down")
CAF_ADD_ATOM(datastream, datastream, follow_atom, "ds_follow")
CAF_ADD_ATOM(datastream, datastream, streams_atom, "ds_streams")
CAF_ADD_ATOM(datastream, datastream, page_atom, "ds_page")
CAF_ADD_ATOM(datastream, datastream, publish_atom, "ds_publ")
CAF_ADD_ATOM(datastream, datastream, offer_atom, "ds_offer")
CAF_ADD_ATOM(datastream, datastream, withdraw_atom, "ds_withdr")
CAF_ADD_ATOM(datastream, datastream, find_atom, "ds_find")
CAF_ADD_ATOM(datastream, datastream, names_atom, "ds_names")
CAF_ADD_ATOM(datastream, datastream, retry_atom, "ds_retry")
CAF_ADD_ATOM(datastream, datastream, wake_atom, "ds_wake")

CAF_ADD_TYPE_ID(datastream, (datastream::PublicationLedger))
CAF_ADD_TYPE_ID(datastream, (datastream::OfferedNames))

CAF_ADD_TYPE_ID(datastream, (datastream::ActorError))

CAF_ADD_ATOM(datastream, datastream, forget_atom, "ds_forget")

CAF_END_TYPE_ID_BLOCK(datastream)

DATASTREAM_CAF_ERROR_ENUM(datastream::ActorError, "datastream")
