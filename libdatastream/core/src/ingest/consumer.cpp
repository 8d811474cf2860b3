#include <datastream/ingest/consumer.hpp>

#include <type_traits>
#include <variant>

namespace datastream {

bool Consumer::accept(const Delivery& delivery) {
  const Frame& frame = delivery.frame;
  return store_.open(delivery.stream)
             .accept(FrameView{frame.channel, frame.position, frame.payload, {}}) ==
         StoredStream::Accepted::stored;
}

std::size_t Consumer::accept(const FrameBatch& batch) {
  return batch.empty() ? 0 : store_.open(batch.stream()).accept(batch);
}

void Consumer::accept(const DatastreamEvent& event) {
  if (const auto* frame = std::get_if<FrameDelivery>(&event)) {
    store_.open(frame->channel.stream)
        .accept(FrameView{frame->channel.channel, frame->position, frame->payload, {}});
  } else if (const auto* channel = std::get_if<ChannelDeclared>(&event)) {
    if (!catalog_.declare_channel(channel->descriptor))
      ++conflicting_declarations_;
  } else if (const auto* stream = std::get_if<StreamDeclared>(&event)) {
    catalog_.declare_stream(stream->descriptor);
  } else if (const auto* end = std::get_if<StreamEnded>(&event)) {
    ended_.insert(end->stream);
  }
}

std::size_t Consumer::accept(const EventBatch& events) {
  for (const Declaration& declaration : events.declarations)
    declare(declaration);
  expect(events.starts);
  malformed_frames_ += events.malformed;
  const std::size_t stored = accept(events.frames);
  if (events.ended) {
    ended_.insert(events.ended->stream);
    store_.open(events.ended->stream).expect_until(events.ended->assigned);
  }
  return stored;
}

void Consumer::begin(const SubscriptionStart& start) {
  declare(start.snapshot);
  expect(start.starts);
}

void Consumer::expect(const std::vector<StreamStart>& starts) {
  for (const StreamStart& stream : starts)
    store_.expect_from(stream.stream, stream.from);
}

void Consumer::declare(const DatastreamSnapshot& snapshot) {
  conflicting_declarations_ += catalog_.declare_all(snapshot);
}

void Consumer::declare(const Declaration& declaration) {
  if (!catalog_.declare(declaration))
    ++conflicting_declarations_;
}

bool Consumer::forget(const StreamId& stream) {
  const bool declared = catalog_.forget(stream);
  const bool ended = ended_.erase(stream) != 0;
  return store_.forget(stream) || declared || ended; // last, for it may own the id
}

std::string_view Consumer::channel_name(const StreamId& stream, ChannelId channel) const {
  // The catalog keeps the descriptor, so the name outlives this pointer.
  const ChannelDescriptorPtr descriptor = catalog_.find_channel(stream, channel);
  return descriptor ? std::string_view(descriptor->name) : std::string_view();
}

} // namespace datastream
