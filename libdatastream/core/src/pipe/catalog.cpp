#include <datastream/pipe/catalog.hpp>

#include <algorithm>
#include <limits>
#include <variant>

namespace datastream {

/// Enters a channel into the tables, as what will be declaration number `index`. Throws
/// `std::bad_alloc`, and then has changed nothing.
ChannelDescriptorPtr Catalog::Stream::add(ChannelDescriptor added, std::size_t index) {
  auto channel = std::make_shared<const ChannelDescriptor>(std::move(added));
  const auto entered = by_id.emplace(channel->id, Entry{channel, index}).first;
  try {
    by_name.emplace(channel->name, channel->id);
  } catch (...) {
    by_id.erase(entered);
    throw;
  }
  next_id = std::max<std::uint64_t>(next_id, std::uint64_t{channel->id.value} + 1);
  return channel;
}

/// A stream that is to be merged into those that are known.
Catalog::Streams Catalog::new_stream(StreamDescriptor descriptor) {
  const auto stream = std::make_shared<const StreamDescriptor>(std::move(descriptor));
  Streams added;
  added.try_emplace(stream->stream, &nodes_).first->second.descriptor = stream;
  return added;
}

/// Makes room for so many more.
void Catalog::reserve_log(std::size_t declarations) {
  if (log_.capacity() - log_.size() < declarations)
    log_.reserve(2 * log_.size() + 8);
}

/// There must be room.
void Catalog::log(Declaration declaration) noexcept {
  log_.push_back(std::move(declaration));
  version_.store(log_.size(), std::memory_order_release);
}

bool Catalog::declare_stream(StreamDescriptor descriptor) {
  const std::lock_guard lock(mutex_);
  if (streams_.contains(descriptor.stream))
    return false;
  reserve_log(1);
  Streams added = new_stream(std::move(descriptor));
  log(added.begin()->second.descriptor);
  streams_.merge(added);
  return true;
}

std::expected<ChannelId, CatalogError>
Catalog::register_channel(const StreamId& stream, std::string name, ChannelContent content) {
  using Kind = CatalogError::Kind;
  const std::lock_guard lock(mutex_);
  const auto it = streams_.find(stream);
  if (it == streams_.end())
    return std::unexpected(CatalogError{Kind::unknown_stream, to_string(stream)});
  Stream& owner = it->second;
  if (const auto known = owner.by_name.find(name); known != owner.by_name.end()) {
    if (owner.by_id.at(known->second).channel->content == content)
      return known->second;
    return std::unexpected(CatalogError{Kind::conflicting_name,
                                        "channel '" + name + "' is registered with other content"});
  }
  if (owner.closed)
    return std::unexpected(
        CatalogError{Kind::stream_ended, "channel '" + name + "': the stream has ended"});
  if (owner.next_id > std::numeric_limits<std::uint32_t>::max())
    return std::unexpected(
        CatalogError{Kind::ids_exhausted, "channel '" + name + "': no channel id is left"});
  const ChannelId id{static_cast<std::uint32_t>(owner.next_id)};
  reserve_log(1);
  log(owner.add({stream, id, std::move(name), std::nullopt, std::move(content)}, log_.size()));
  return id;
}

std::expected<bool, CatalogError> Catalog::declare_channel(ChannelDescriptor descriptor) {
  const std::lock_guard lock(mutex_);
  auto it = streams_.find(descriptor.stream);
  Streams unknown; // becomes known with its channel, or not at all
  if (it == streams_.end()) {
    unknown = new_stream({descriptor.stream, std::nullopt, StreamOrigin::RemoteNode});
    it = unknown.begin();
  }
  Stream& owner = it->second;
  if (const auto known = owner.by_id.find(descriptor.id); known != owner.by_id.end()) {
    if (*known->second.channel == descriptor)
      return false;
    return std::unexpected(
        CatalogError{CatalogError::Kind::conflicting_declaration,
                     "channel " + std::to_string(descriptor.id.value) + " of " +
                         to_string(descriptor.stream) + " is '" + known->second.channel->name +
                         "' and was declared again as '" + descriptor.name + "'"});
  }
  reserve_log(1 + unknown.size());
  ChannelDescriptorPtr channel = owner.add(std::move(descriptor), log_.size() + unknown.size());
  if (!unknown.empty())
    log(owner.descriptor);
  streams_.merge(unknown);
  log(std::move(channel));
  return true;
}

std::expected<bool, CatalogError> Catalog::declare(const Declaration& declaration) {
  if (const auto* stream = std::get_if<StreamDescriptorPtr>(&declaration))
    return declare_stream(**stream);
  return declare_channel(*std::get<ChannelDescriptorPtr>(declaration));
}

std::size_t Catalog::declare_all(const DatastreamSnapshot& snapshot) {
  std::size_t conflicts = 0;
  for (const StreamDescriptor& stream : snapshot.streams)
    declare_stream(stream);
  for (const ChannelDescriptor& channel : snapshot.channels)
    conflicts += declare_channel(channel) ? 0 : 1;
  return conflicts;
}

void Catalog::close_stream(const StreamId& stream) {
  const std::lock_guard lock(mutex_);
  if (const auto it = streams_.find(stream); it != streams_.end())
    it->second.closed = true;
}

std::vector<Declaration> Catalog::declarations(std::size_t from, std::size_t to) const {
  const std::lock_guard lock(mutex_);
  to = std::min(to, log_.size());
  if (from >= to)
    return {};
  return {log_.begin() + static_cast<std::ptrdiff_t>(from),
          log_.begin() + static_cast<std::ptrdiff_t>(to)};
}

Catalog::Versioned Catalog::snapshot(const SubscriptionRequest& request) const {
  const std::lock_guard lock(mutex_);
  Versioned result;
  result.version = log_.size();
  const bool all_channels = std::holds_alternative<channel_filter::All>(request.channels);
  std::vector<const ChannelDescriptor*> shown; // sorted before they are copied: they are large
  for (const auto& [id, stream] : streams_) {
    if (!matches(request.sources, *stream.descriptor))
      continue;
    shown.clear();
    for (const auto& [channel_id, entry] : stream.by_id)
      if (matches(request.channels, *entry.channel))
        shown.push_back(entry.channel.get());
    std::ranges::sort(shown, {}, &ChannelDescriptor::id);
    for (const ChannelDescriptor* channel : shown)
      result.snapshot.channels.push_back(*channel);
    if (all_channels || !shown.empty())
      result.snapshot.streams.push_back(*stream.descriptor);
  }
  return result;
}

StreamDescriptorPtr Catalog::find_stream(const StreamId& stream) const {
  const std::lock_guard lock(mutex_);
  const auto it = streams_.find(stream);
  return it == streams_.end() ? nullptr : it->second.descriptor;
}

Catalog::Entry Catalog::find_entry(const StreamId& stream, ChannelId channel) const {
  const std::lock_guard lock(mutex_);
  const auto it = streams_.find(stream);
  if (it == streams_.end())
    return {};
  const auto entry = it->second.by_id.find(channel);
  return entry == it->second.by_id.end() ? Entry{} : entry->second;
}

ChannelDescriptorPtr Catalog::find_channel(const StreamId& stream, ChannelId channel) const {
  return find_entry(stream, channel).channel;
}

ChannelDescriptorPtr Catalog::find_channel(const StreamId& stream, std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto it = streams_.find(stream);
  if (it == streams_.end())
    return nullptr;
  const auto id = it->second.by_name.find(name);
  return id == it->second.by_name.end() ? nullptr : it->second.by_id.at(id->second).channel;
}

} // namespace datastream
