#include <datastream/views/channel_names.hpp>

#include <algorithm>

namespace datastream {

ChannelNames::ChannelNames(const DatastreamSnapshot& catalog, const StreamId& stream) {
  for (const ChannelDescriptor& channel : catalog.channels)
    if (channel.stream == stream)
      names_.emplace(channel.id, channel.name);
}

std::optional<std::string_view> ChannelNames::operator()(ChannelId channel) const {
  const auto found = names_.find(channel);
  if (found == names_.end())
    return std::nullopt;
  return found->second;
}

std::optional<ChannelId> ChannelNames::find(std::string_view name) const {
  const auto found = std::ranges::find_if(names_, [&](const auto& n) { return n.second == name; });
  if (found == names_.end())
    return std::nullopt;
  return found->first;
}

} // namespace datastream
