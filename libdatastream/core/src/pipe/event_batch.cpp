#include <datastream/pipe/event_batch.hpp>

#include <limits>

namespace datastream {

DeclaredNames::DeclaredNames(std::shared_ptr<const Catalog> catalog)
    : catalog_(std::move(catalog)), told_(std::numeric_limits<std::size_t>::max()) {}

DeclaredNames::DeclaredNames(std::shared_ptr<const Catalog> catalog,
                             std::shared_ptr<const SubscriptionRequest> request,
                             std::size_t snapshot, std::size_t told)
    : catalog_(std::move(catalog)), request_(std::move(request)), snapshot_(snapshot), told_(told) {
}

ChannelDescriptorPtr DeclaredNames::find(const StreamId& stream, ChannelId channel) const {
  if (!catalog_)
    return nullptr;
  const Catalog::Entry entry = catalog_->find_entry(stream, channel);
  if (!entry.channel || entry.index >= told_)
    return nullptr;
  // The snapshot left out what the request did not ask for; nobody was told these names.
  if (entry.index < snapshot_ && request_) {
    const StreamDescriptorPtr descriptor = catalog_->find_stream(stream);
    if (!descriptor || !matches(*request_, *descriptor, *entry.channel))
      return nullptr;
  }
  return entry.channel;
}

std::string DeclaredNames::name(const StreamId& stream, ChannelId channel) const {
  const ChannelDescriptorPtr found = find(stream, channel);
  return found ? found->name : std::string();
}

} // namespace datastream
