#include <datastream/envelope/assign_on_submit_mux.hpp>

#include <limits>
#include <new>
#include <utility>

namespace datastream {

AssignOnSubmitMux::AssignOnSubmitMux(StreamId stream, std::size_t frames)
    : stream_(std::make_shared<const StreamId>(std::move(stream))), capacity_(frames) {}

AssignOnSubmitMux AssignOnSubmitMux::unbounded(StreamId stream) {
  return AssignOnSubmitMux(std::move(stream), std::numeric_limits<std::size_t>::max());
}

Position AssignOnSubmitMux::submit(ChannelId channel, std::string payload) noexcept {
  const std::lock_guard lock(mutex_);
  const Position position{next_++};
  if (queue_.size() >= capacity_ || payload.size() > defaults::payload_bytes_max) {
    ++dropped_;
    return position;
  }
  try {
    queue_.push_back({channel, position, std::move(payload)});
  } catch (const std::bad_alloc&) {
    ++dropped_;
  }
  return position;
}

std::size_t AssignOnSubmitMux::drain(std::vector<FrameBatch>& batches) {
  const std::lock_guard drain_lock(drain_mutex_);
  std::size_t frames = append_taken(batches); // what an earlier drain had no memory for
  {
    const std::lock_guard lock(mutex_);
    taken_.swap(queue_);
  }
  return frames + append_taken(batches);
}

/// The drain lock must be held.
std::size_t AssignOnSubmitMux::append_taken(std::vector<FrameBatch>& batches) {
  std::size_t frames = 0;
  std::vector<FrameView> views;
  while (!taken_.empty()) {
    views.clear();
    std::size_t bytes = 0;
    for (const Frame& frame : taken_) {
      bytes += frame.payload.size();
      if (views.size() == defaults::batch_frames ||
          (!views.empty() && bytes > defaults::batch_bytes))
        break;
      views.push_back({frame.channel, frame.position, frame.payload, {}});
    }
    batches.push_back(FrameBatch::copy_of(*stream_, views));
    taken_.erase(taken_.begin(), taken_.begin() + static_cast<std::ptrdiff_t>(views.size()));
    frames += views.size();
  }
  return frames;
}

std::uint64_t AssignOnSubmitMux::assigned() const {
  const std::lock_guard lock(mutex_);
  return next_;
}

std::uint64_t AssignOnSubmitMux::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

} // namespace datastream
