#include <datastream/pipe/producer.hpp>

#include "pipe_state.hpp"

#include <stdexcept>

namespace datastream {

DatastreamProducer::DatastreamProducer(std::shared_ptr<PipeState> pipe) noexcept
    : pipe_(std::move(pipe)) {}

const StreamId& DatastreamProducer::stream_id() const noexcept {
  return pipe_->mux.stream_id();
}

ChannelId DatastreamProducer::register_channel(std::string name, ChannelContent content) const {
  auto id = try_register_channel(std::move(name), std::move(content));
  if (!id)
    throw std::logic_error(id.error().message);
  return *id;
}

std::expected<ChannelId, CatalogError>
DatastreamProducer::try_register_channel(std::string name, ChannelContent content) const {
  return pipe_->register_channel(std::move(name), std::move(content));
}

std::optional<ChannelId> DatastreamProducer::find_channel(std::string_view name) const {
  const auto channel = pipe_->catalog->find_channel(stream_id(), name);
  return channel ? std::optional(channel->id) : std::nullopt;
}

bool DatastreamProducer::submit_bytes(ChannelId channel, std::string_view bytes) const noexcept {
  return pipe_->mux.submit(channel, bytes);
}

bool DatastreamProducer::submit_bytes(ChannelId channel,
                                      std::span<const std::byte> bytes) const noexcept {
  return pipe_->mux.submit(
      channel, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

bool DatastreamProducer::submit_bytes_owned(ChannelId channel, std::string bytes) const noexcept {
  return pipe_->mux.submit_owned(channel, std::move(bytes));
}

bool DatastreamProducer::submit_text(ChannelId channel, std::string_view text) const noexcept {
  return pipe_->mux.submit(channel, text);
}

bool DatastreamProducer::submit_text_owned(ChannelId channel, std::string text) const noexcept {
  return pipe_->mux.submit_owned(channel, std::move(text));
}

std::size_t
DatastreamProducer::submit_many(ChannelId channel,
                                std::span<const std::string_view> payloads) const noexcept {
  return pipe_->mux.submit_many(channel, payloads);
}

bool DatastreamProducer::submit_encoded(ChannelId channel,
                                        detail::RecordBuffer& buffer) const noexcept {
  return buffer.submit(pipe_->mux, channel);
}

} // namespace datastream
