#pragma once
/// JSON of the data model, byte for byte as peers of this protocol write it (specification 2, 3.4,
/// 5.8, 6.4): compact, fields in declaration order, absent options as `null`, payloads as arrays
/// of numbers, alternatives tagged by their name.
///
///     encode_json(StreamId{"node-a", {7}})            // {"node":"node-a","life":7}
///     decode_json<StreamId>(R"({"node":"a","life":7})")
///
/// Reading is as lenient as that of peers: unknown fields are ignored, absent options are nothing,
/// a struct may be a positional array, an alternative without content may be `{"Bytes":null}`.
/// Known fields that occur twice, and numbers that do not fit, are errors.

#include <datastream/model/channel_content.hpp>
#include <datastream/model/descriptor.hpp>
#include <datastream/model/event.hpp>
#include <datastream/model/frame.hpp>
#include <datastream/model/ids.hpp>
#include <datastream/model/json_error.hpp>
#include <datastream/model/subscription_request.hpp>

#include <concepts>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace datastream {

template <class T, class... Ts>
concept AnyOf = (std::same_as<T, Ts> || ...);

/// The types of the data model that have a JSON form.
template <class T>
concept JsonModel =
    AnyOf<T, StreamId, StreamDescriptor, ChannelContent, ChannelDescriptor, ChannelRef,
          FrameDelivery, Frame, DatastreamEvent, SourceFilter, ChannelFilter, SubscriptionRequest,
          DatastreamSnapshot, std::vector<ChannelDescriptor>>;

/// Never fails: names that are not UTF-8 are written with U+FFFD for what is not.
template <JsonModel T>
std::string encode_json(const T& value);

/// Reads one document. Nothing in it can make this throw or allocate more than in proportion.
template <JsonModel T>
std::expected<T, JsonError> decode_json(std::string_view text);

} // namespace datastream
