#include <datastream/model/event.hpp>

namespace datastream {

std::optional<Delivery> to_delivery(const DatastreamEvent& event) {
  const auto* frame = std::get_if<FrameDelivery>(&event);
  if (!frame)
    return std::nullopt;
  return Delivery{frame->channel.stream, {frame->channel.channel, frame->position, frame->payload}};
}

} // namespace datastream
