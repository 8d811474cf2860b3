#include <datastream/ingest/store.hpp>

namespace datastream {

Store& Store::operator=(Store&& other) noexcept {
  retention_ = other.retention_;
  streams_ = std::move(other.streams_);
  other.streams_.clear();
  recent_ = std::exchange(other.recent_, nullptr);
  return *this;
}

StoredStream* Store::find(const StreamId& stream) noexcept {
  const auto it = streams_.find(stream);
  return it == streams_.end() ? nullptr : &it->second;
}

const StoredStream* Store::find(const StreamId& stream) const noexcept {
  const auto it = streams_.find(stream);
  return it == streams_.end() ? nullptr : &it->second;
}

StoredStream& Store::open(const StreamId& stream) {
  // The life differs more often than the node and is compared at once.
  if (!recent_ || recent_->id().life != stream.life || recent_->id().node != stream.node)
    recent_ = &streams_.try_emplace(stream, stream, retention_).first->second;
  return *recent_;
}

} // namespace datastream
