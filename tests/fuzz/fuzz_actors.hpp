#pragma once
/// What must hold when arbitrary bytes are a payload of `runtime.actors`.

#include <datastream/record.hpp>
#include <datastream/views/actor_table.hpp>

#include <string>
#include <string_view>

namespace datastream::fuzz {

inline bool actors_hold(std::string_view payload) {
  const auto record = decode_actors(payload);
  ActorTable table;
  const FrameView frame{{1}, {3}, payload, {}};
  if (table.accept(frame) != record.has_value() || !table.accept(frame) != !record)
    return false;
  if (!record)
    return table.undecodable() == 2 && table.actors().empty();
  for (const ActorSnapshot& actor : record->actors)
    if (const ActorState* state = table.find(actor.address);
        !state || state->position != Position{3})
      return false;
  // What was read is written in the form that is ours, which every reader of ours takes.
  const std::string text = encode_record(*record);
  return decode_actors(text) == *record && decode_record<ActorsRecord>(text) == *record;
}

} // namespace datastream::fuzz
