#include <datastream/pipe/catalog.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <variant>

namespace datastream {

/// Enters a channel into the tables, as what will be declaration number `number`. Throws
/// `std::bad_alloc`, and then has changed nothing.
ChannelDescriptorPtr Catalog::Stream::add(ChannelDescriptor added, std::size_t number) {
  auto channel = std::make_shared<const ChannelDescriptor>(std::move(added));
  const auto entered = by_id.emplace(channel->id, Entry{channel, number}).first;
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
Catalog::Streams Catalog::new_stream(StreamDescriptor descriptor, std::size_t index) {
  const auto stream = std::make_shared<const StreamDescriptor>(std::move(descriptor));
  Streams added;
  Stream& state = added.try_emplace(stream->stream).first->second;
  state.descriptor = stream;
  state.index = index;
  return added;
}

/// Makes room for so many more, at most a part.
void Catalog::reserve_log(std::size_t declarations) {
  log_.try_emplace(version() / LogPart::entries);
  log_.try_emplace((version() + declarations - 1) / LogPart::entries);
}

/// There must be room.
void Catalog::log(Declaration declaration) noexcept {
  const std::size_t index = version();
  LogPart& part = log_.find(index / LogPart::entries)->second;
  part.declarations[index % LogPart::entries] = std::move(declaration);
  ++part.known;
  version_.store(index + 1, std::memory_order_release);
}

void Catalog::forget_log(std::size_t index) noexcept {
  const auto part = log_.find(index / LogPart::entries);
  part->second.declarations[index % LogPart::entries] = {};
  if (--part->second.known == 0)
    log_.erase(part);
}

bool Catalog::declare_stream(StreamDescriptor descriptor) {
  const std::lock_guard lock(mutex_);
  if (streams_.contains(descriptor.stream))
    return false;
  reserve_log(1);
  Streams added = new_stream(std::move(descriptor), version());
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
  log(owner.add({stream, id, std::move(name), std::nullopt, std::move(content)}, version()));
  return id;
}

std::expected<bool, CatalogError> Catalog::declare_channel(ChannelDescriptor descriptor) {
  const std::lock_guard lock(mutex_);
  auto it = streams_.find(descriptor.stream);
  Streams unknown; // becomes known with its channel, or not at all
  if (it == streams_.end()) {
    unknown = new_stream({descriptor.stream, std::nullopt, StreamOrigin::RemoteNode}, version());
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
  ChannelDescriptorPtr channel = owner.add(std::move(descriptor), version() + unknown.size());
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

bool Catalog::forget(const StreamId& stream) {
  Streams::node_type gone; // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  gone = streams_.extract(stream);
  if (!gone)
    return false;
  forget_log(gone.mapped().index);
  for (const auto& [id, entry] : gone.mapped().by_id)
    forget_log(entry.index);
  return true;
}

/// Copies what the next part of the log has from `from` on, below `to`: so much that a lock is
/// worth its while, and so little that nobody waits for it. Returns where to go on; `to` at the
/// end.
std::size_t Catalog::copy_log_part(std::size_t from, std::size_t to,
                                   std::vector<Declaration>& declarations) const {
  declarations.clear();
  declarations.reserve(std::min(to - from, LogPart::entries));
  const std::lock_guard lock(mutex_);
  const auto part = log_.lower_bound(from / LogPart::entries);
  if (part == log_.end())
    return to;
  const std::size_t begin = part->first * LogPart::entries;
  const std::size_t end = std::min(to, begin + LogPart::entries);
  for (std::size_t index = std::max(from, begin); index < end; ++index) {
    const Declaration& declaration = part->second.declarations[index - begin];
    if (std::visit([](const auto& known) { return known != nullptr; }, declaration))
      declarations.push_back(declaration);
  }
  return std::max(from, end);
}

std::vector<Declaration> Catalog::declarations(std::size_t from, std::size_t to) const {
  std::vector<Declaration> result;
  std::vector<Declaration> part;
  to = std::min(to, version());
  while (from < to) {
    from = copy_log_part(from, to, part);
    result.insert(result.end(), std::move_iterator(part.begin()), std::move_iterator(part.end()));
  }
  return result;
}

Catalog::Versioned Catalog::snapshot(const SubscriptionRequest& request) const {
  struct Shown {
    StreamDescriptorPtr stream; // null when its source does not match
    std::vector<ChannelDescriptorPtr> channels;
  };
  Versioned result;
  result.version = version();
  std::map<StreamId, Shown> streams;
  auto latest = streams.end(); // most channels follow others of their stream
  std::vector<Declaration> part;
  for (std::size_t at = 0; at < result.version;) {
    at = copy_log_part(at, result.version, part);
    for (Declaration& declaration : part) {
      if (auto* stream = std::get_if<StreamDescriptorPtr>(&declaration)) {
        Shown& shown = streams[(*stream)->stream];
        if (matches(request.sources, **stream))
          shown.stream = std::move(*stream);
        continue;
      }
      auto& channel = std::get<ChannelDescriptorPtr>(declaration);
      if (!matches(request.channels, *channel))
        continue;
      if (latest == streams.end() || latest->first != channel->stream)
        latest = streams.find(channel->stream);
      if (latest != streams.end() && latest->second.stream)
        latest->second.channels.push_back(std::move(channel));
    }
  }
  const bool all_channels = std::holds_alternative<channel_filter::All>(request.channels);
  for (auto& [id, shown] : streams) {
    if (!shown.stream || (!all_channels && shown.channels.empty()))
      continue;
    std::ranges::sort(shown.channels, {}, &ChannelDescriptor::id); // before they are copied
    for (const ChannelDescriptorPtr& channel : shown.channels)
      result.snapshot.channels.push_back(*channel);
    result.snapshot.streams.push_back(*shown.stream);
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
