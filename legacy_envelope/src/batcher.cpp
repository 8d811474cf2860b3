#include <datastream/envelope/batcher.hpp>

#include <datastream/defaults.hpp>

#include <algorithm>
#include <utility>

namespace datastream {

bool EnvelopeBatcher::find_group(const EnvelopeView& envelope) {
  const auto found = std::ranges::find_if(
      groups_, [&](const Group& group) { return envelope.belongs_to(*group.stream); });
  auto at = static_cast<std::size_t>(found - groups_.begin());
  if (at >= used_) {
    if (used_ == streams_max)
      return false;
    if (found == groups_.end()) {
      auto stream = std::make_shared<const StreamId>(envelope.stream());
      if (groups_.size() < streams_max)
        groups_.emplace_back();
      at = groups_.size() - 1; // of those without frames the one that was needed longest ago
      groups_[at].stream = std::move(stream);
    }
    std::rotate(groups_.begin() + static_cast<std::ptrdiff_t>(used_),
                groups_.begin() + static_cast<std::ptrdiff_t>(at),
                groups_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    at = used_++;
  }
  recent_ = at;
  return true;
}

void EnvelopeBatcher::take(const BlockPtr& block, std::vector<FrameBatch>& batches) {
  for (std::size_t i = 0; i < used_; ++i) {
    Group& group = groups_[i];
    std::size_t taken = 0;
    try {
      for (std::size_t count = 0; taken < group.headers.size(); taken += count) {
        count = std::min(group.headers.size() - taken, defaults::batch_frames);
        FrameBatchWriter writer{count};
        for (std::size_t n = 0; n < count; ++n)
          writer.append(group.headers[taken + n]);
        FrameBatch batch = std::move(writer).finish(group.stream, block);
        if (batch.payload_bytes() < batch.pinned_bytes() / 2)
          batch = batch.compact();
        batches.push_back(std::move(batch));
      }
    } catch (...) {
      group.headers.erase(group.headers.begin(),
                          group.headers.begin() + static_cast<std::ptrdiff_t>(taken));
      size_ -= taken;
      throw;
    }
    size_ -= taken;
    group.headers.clear();
  }
  used_ = 0;
  forget_groups();
}

/// Keeps those that were needed last, as far as there is room for them.
void EnvelopeBatcher::forget_groups() noexcept {
  std::size_t kept = 0;
  std::erase_if(groups_, [&](const Group& group) {
    const std::size_t bytes = group.bytes();
    if (kept + bytes > kept_bytes_max)
      return true;
    kept += bytes;
    return false;
  });
}

} // namespace datastream
