#pragma once
/// What must hold when arbitrary bytes are read as JSON of the data model.

#include <datastream/model/json.hpp>

#include <string_view>

namespace datastream::fuzz {

/// What was read as a `T` is written in a form that reads as the same value again.
template <JsonModel T>
bool survives_writing(std::string_view input) {
  const auto value = decode_json<T>(input);
  if (!value)
    return true;
  const auto again = decode_json<T>(encode_json(*value));
  return again && *again == *value;
}

inline bool model_json_holds(std::string_view input) {
  return survives_writing<StreamId>(input) && survives_writing<StreamDescriptor>(input) &&
         survives_writing<ChannelContent>(input) && survives_writing<ChannelDescriptor>(input) &&
         survives_writing<ChannelRef>(input) && survives_writing<FrameDelivery>(input) &&
         survives_writing<Frame>(input) && survives_writing<DatastreamEvent>(input) &&
         survives_writing<SourceFilter>(input) && survives_writing<ChannelFilter>(input) &&
         survives_writing<SubscriptionRequest>(input) &&
         survives_writing<DatastreamSnapshot>(input) &&
         survives_writing<std::vector<ChannelDescriptor>>(input);
}

} // namespace datastream::fuzz
