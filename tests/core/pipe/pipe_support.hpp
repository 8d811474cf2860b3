#pragma once
/// What the tests of the pipe share.

#include <datastream/pipe/delivery_fanout.hpp>
#include <datastream/pipe/endpoint.hpp>
#include <datastream/pipe/mux.hpp>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace pipe_test {

using namespace datastream;

inline const StreamId stream_id{"node", {7}};
inline constexpr auto patience = std::chrono::seconds(20); // until a test gives up

inline std::vector<FrameBatch> drain(Mux& mux) {
  std::vector<FrameBatch> batches;
  mux.drain(batches);
  return batches;
}

inline std::vector<Frame> frames_of(const std::vector<FrameBatch>& batches) {
  std::vector<Frame> frames;
  for (const FrameBatch& batch : batches)
    for (const FrameView& frame : batch)
      frames.push_back(frame.to_frame());
  return frames;
}

inline std::vector<std::string> payloads_of(const std::vector<FrameBatch>& batches) {
  std::vector<std::string> payloads;
  for (Frame& frame : frames_of(batches))
    payloads.push_back(std::move(frame.payload));
  return payloads;
}

inline std::vector<std::uint64_t> positions_of(const std::vector<FrameBatch>& batches) {
  std::vector<std::uint64_t> positions;
  for (const Frame& frame : frames_of(batches))
    positions.push_back(frame.position.value);
  return positions;
}

/// Everything that deliveries say, in their logical order.
inline std::vector<DatastreamEvent> events_of(const std::vector<EventBatch>& deliveries) {
  std::vector<DatastreamEvent> events;
  for (const EventBatch& delivery : deliveries)
    delivery.each_event([&](const DatastreamEvent& event) { events.push_back(event); });
  return events;
}

template <class Event>
std::vector<Event> only(const std::vector<DatastreamEvent>& events) {
  std::vector<Event> some;
  for (const DatastreamEvent& event : events)
    if (const auto* wanted = std::get_if<Event>(&event))
      some.push_back(*wanted);
  return some;
}

inline std::vector<std::uint64_t> positions_of(const std::vector<EventBatch>& deliveries) {
  std::vector<std::uint64_t> positions;
  for (const FrameDelivery& frame : only<FrameDelivery>(events_of(deliveries)))
    positions.push_back(frame.position.value);
  return positions;
}

inline std::vector<std::string> declared_names(const std::vector<EventBatch>& deliveries) {
  std::vector<std::string> names;
  for (const ChannelDeclared& declared : only<ChannelDeclared>(events_of(deliveries)))
    names.push_back(declared.descriptor.name);
  return names;
}

/// A batch of frames on channel 1 with the positions `first` to `first + count - 1`.
inline FrameBatch batch_of(const StreamId& stream, std::uint64_t first, std::size_t count,
                           const std::string& payload = "payload") {
  std::vector<Frame> frames;
  for (std::size_t i = 0; i < count; ++i)
    frames.push_back({ChannelId{1}, Position{first + i}, payload});
  return FrameBatch::copy_of(stream, frames);
}

/// What a pushed subscriber received; safe to read while others deliver.
class Inbox {
public:
  void put(EventBatch batch) {
    const std::lock_guard lock(mutex_);
    batches_.push_back(std::move(batch));
  }
  std::vector<EventBatch> all() const {
    const std::lock_guard lock(mutex_);
    return batches_;
  }
  std::size_t size() const { return all().size(); }

private:
  mutable std::mutex mutex_;
  std::vector<EventBatch> batches_;
};

class InboxSink final : public SubscriberSink {
public:
  explicit InboxSink(std::shared_ptr<Inbox> inbox) : inbox_(std::move(inbox)) {}
  void deliver(EventBatch batch) override { inbox_->put(std::move(batch)); }

private:
  std::shared_ptr<Inbox> inbox_;
};

/// Waits for a condition that another thread brings about.
template <class Condition>
bool eventually(Condition&& condition) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline)
      return false;
    std::this_thread::yield();
  }
  return true;
}

} // namespace pipe_test
