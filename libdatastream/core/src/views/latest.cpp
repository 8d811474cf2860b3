#include <datastream/views/latest.hpp>

namespace datastream {

std::optional<FrameView> latest(const StoredStream& stream, ChannelId channel) {
  const auto frames = stream.frames();
  for (auto at = frames.end(); at != frames.begin();) {
    const FrameView frame = *--at;
    if (frame.channel == channel)
      return frame;
  }
  return std::nullopt;
}

} // namespace datastream
