#pragma once
/// The numbers under which CAF knows the messages of an archive's actor. Pass
/// `caf::id_block::datastream_archive` besides `caf::id_block::datastream` to `CAF_MAIN`, or to
/// `datastream::compat::load` with a configuration.

#include <datastream/actors/type_ids.hpp>
#include <datastream/archive_actor/messages.hpp>

#include <caf/type_id.hpp>

// Behind the block of `datastream/envelope_caf/type_ids.hpp`. Append only: numbers are on wires.
CAF_BEGIN_TYPE_ID_BLOCK(datastream_archive, caf::first_custom_type_id + 4300)

CAF_ADD_TYPE_ID(datastream_archive, (datastream::ArchiveStatus))

CAF_ADD_ATOM(datastream_archive, datastream, flush_atom, "ds_flush")
// What the archive sends to its actor when it is done with something.
CAF_ADD_ATOM(datastream_archive, datastream, committed_atom, "ds_commit")

CAF_END_TYPE_ID_BLOCK(datastream_archive)
