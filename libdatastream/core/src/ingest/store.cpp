#include <datastream/ingest/store.hpp>

#include <algorithm>

namespace datastream {

Store& Store::operator=(Store&& other) noexcept {
  retention_ = other.retention_;
  streams_ = std::move(other.streams_);
  other.streams_.clear();
  starts_ = std::move(other.starts_);
  other.starts_.clear();
  forgotten_ = std::exchange(other.forgotten_, {});
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
  if (recent_ && recent_->id().life == stream.life && recent_->id().node == stream.node)
    return *recent_;
  recent_ = &streams_.try_emplace(stream, stream, retention_).first->second;
  if (const auto start = starts_.find(stream); start != starts_.end()) {
    recent_->expect_from(start->second);
    starts_.erase(start);
  }
  return *recent_;
}

void Store::expect_from(const StreamId& stream, Position first) {
  if (StoredStream* const open = find(stream)) {
    open->expect_from(first);
    return;
  }
  Position& known = starts_.try_emplace(stream, first).first->second;
  known = std::min(known, first);
}

bool Store::forget(const StreamId& stream) {
  const bool expected = starts_.erase(stream) != 0;
  const auto it = streams_.find(stream);
  if (it == streams_.end())
    return expected;
  forgotten_ += it->second.ledger();
  if (recent_ == &it->second)
    recent_ = nullptr;
  streams_.erase(it);
  return true;
}

} // namespace datastream
