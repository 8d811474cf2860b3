#pragma once
/// How data enters a stream (specification 4.2).

#include <datastream/detail/record_buffer.hpp>
#include <datastream/model/channel_content.hpp>
#include <datastream/model/ids.hpp>
#include <datastream/pipe/catalog.hpp>

#include <cstddef>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace datastream {

struct PipeState;

/// A handle that registers channels on one stream and submits payloads to it.
///
/// Submitting waits for no reader, no drain and no other producer, allocates nothing in the steady
/// state and copies the payload once. It never throws. It answers true when the payload entered the
/// mux; false when it was refused, which is counted by reason (`PipeLedger::refused`). After the
/// stream has ended, or its endpoint is gone, everything is refused.
///
///     DatastreamProducer out = endpoint.producer();
///     ChannelId log = out.register_channel("worker.log", TextStream{});
///     out.submit_text(log, "started");
///
/// Ownership: cheap to copy; copies share the stream and may outlive the endpoint.
/// Thread safety: every function may be called from any thread.
class DatastreamProducer {
public:
  const StreamId& stream_id() const noexcept;

  /// Registers a channel, or finds it: the same name with the same content has the same id.
  /// Throws `std::logic_error` when the catalog refuses, see `try_register_channel`.
  ChannelId register_channel(std::string name, ChannelContent content) const;
  /// The same. Errors: the name has other content, the stream has ended, no id is left.
  std::expected<ChannelId, CatalogError> try_register_channel(std::string name,
                                                              ChannelContent content) const;
  /// Registers the channel of a record type (`record.hpp`), with its name as schema.
  template <class R>
  ChannelId register_record() const {
    return register_channel(R::CHANNEL, JsonRecord{R::CHANNEL});
  }
  /// The id of a registered name.
  std::optional<ChannelId> find_channel(std::string_view name) const;

  bool submit_bytes(ChannelId channel, std::string_view bytes) const noexcept;
  bool submit_bytes(ChannelId channel, std::span<const std::byte> bytes) const noexcept;
  /// Takes the bytes over; large ones are not copied.
  bool submit_bytes_owned(ChannelId channel, std::string bytes) const noexcept;
  bool submit_text(ChannelId channel, std::string_view text) const noexcept;
  /// Takes the text over; a large one is not copied.
  bool submit_text_owned(ChannelId channel, std::string text) const noexcept;
  /// Submits a record as JSON (`record.hpp`). Encodes into a buffer of the calling thread.
  template <class R>
  bool submit_record(ChannelId channel, const R& record) const noexcept {
    detail::RecordBuffer buffer;
    buffer.encode(record);
    return submit_encoded(channel, buffer);
  }

  /// Submits payloads in order, claiming room for many at once. Returns how many were accepted,
  /// always a prefix; the others are refused and counted.
  std::size_t submit_many(ChannelId channel,
                          std::span<const std::string_view> payloads) const noexcept;

private:
  friend class DatastreamEndpoint;
  explicit DatastreamProducer(std::shared_ptr<PipeState> pipe) noexcept;
  bool submit_encoded(ChannelId channel, detail::RecordBuffer& buffer) const noexcept;

  std::shared_ptr<PipeState> pipe_;
};

} // namespace datastream
