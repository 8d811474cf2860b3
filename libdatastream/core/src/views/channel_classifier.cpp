#include <datastream/views/channel_classifier.hpp>

#include <algorithm>
#include <utility>

namespace datastream {

ChannelRegistry& ChannelRegistry::typed(std::string name) {
  typed_.insert(std::move(name));
  return *this;
}

ChannelRegistry& ChannelRegistry::text(std::string name) {
  text_.insert(std::move(name));
  return *this;
}

ChannelRegistry& ChannelRegistry::text_prefix(std::string prefix) {
  text_prefixes_.push_back(std::move(prefix));
  return *this;
}

ChannelKind ChannelRegistry::operator()(std::string_view name) const {
  if (typed_.contains(name))
    return ChannelKind::Typed;
  const bool is_text =
      text_.contains(name) ||
      std::ranges::any_of(text_prefixes_, [&](const auto& p) { return name.starts_with(p); });
  return is_text ? ChannelKind::Text : ChannelKind::Opaque;
}

ChannelKind channel_kind(const ChannelContent& content) {
  switch (kind_of(content)) {
  case ChannelContentKind::JsonRecord:
    return ChannelKind::Typed;
  case ChannelContentKind::TextStream:
    return ChannelKind::Text;
  case ChannelContentKind::Bytes:
    return ChannelKind::Opaque;
  }
  return ChannelKind::Opaque;
}

ChannelRegistry registry_of(const DatastreamSnapshot& catalog, const StreamId& stream) {
  ChannelRegistry registry;
  for (const ChannelDescriptor& channel : catalog.channels) {
    if (channel.stream != stream)
      continue;
    if (channel_kind(channel.content) == ChannelKind::Typed)
      registry.typed(channel.name);
    else if (channel_kind(channel.content) == ChannelKind::Text)
      registry.text(channel.name);
  }
  return registry;
}

} // namespace datastream
