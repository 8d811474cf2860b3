#pragma once
/// A pipe, driven one action at a time, whatever it is made of.

#include "script.hpp"

#include <datastream/ingest/stored_stream.hpp>
#include <datastream/model/descriptor.hpp>
#include <datastream/model/frame_batch.hpp>
#include <datastream/model/ledger.hpp>
#include <datastream/model/subscription_request.hpp>
#include <datastream/pipe/delivery_fanout.hpp>
#include <datastream/pipe/event_batch.hpp>
#include <datastream/pipe/mux.hpp>
#include <datastream/pipe/subscription.hpp>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace datastream::model_test {

/// Who publishes to a reader: the node itself, or a relay that passes on what it is given.
enum class Stage : std::uint8_t { node, relay };

/// Numbers the readers of one run.
using ReaderKey = std::uint64_t;

/// How a payload is submitted, and how what arrived is given to the consumer. All ways must lead to
/// the same.
enum class SubmitAs : std::uint8_t { bytes, bytes_owned, text, text_owned };
enum class StoreAs : std::uint8_t { events, batch, deliveries, single_events };

/// What a relay has counted.
struct RelayLedger {
  std::uint64_t arrived = 0;
  std::uint64_t published = 0;
  std::uint64_t bitbucketed = 0;
  FanoutLedger fanout;
  friend bool operator==(const RelayLedger&, const RelayLedger&) = default;
};

/// A part of a stored stream.
struct StoredPage {
  std::vector<Frame> frames;
  std::optional<EvictedRange> evicted; ///< where it was to begin
  std::vector<GapSpan> gaps;           ///< up to the last frame here
  bool more = false;
};

/// A node, a relay and a collector. Every call returns when what it asks for has happened, and so
/// has everything that follows from it.
class System {
public:
  virtual ~System() = default;

  /// What not every system can do; the others are never asked for it.
  struct Abilities {
    bool producers = true;        ///< handles: several at once, `submit_many`, those of past lives
    bool pulled_from_node = true; ///< subscriptions that a thread reads
    bool pulled_from_relay = true;
    bool pins = true;            ///< what readers get pins just what was counted for them
    bool drains_directly = true; ///< past its fanout
    bool crashes = true;         ///< a life may stop without ending its stream
    bool forms = true;           ///< takes single frames to store
    bool views = true;           ///< stored streams can be looked at
  };
  virtual Abilities abilities() const { return {}; }

  // --- the node

  /// Begins a life. The one before, if there was one, is gone; its pulled subscriptions stay.
  virtual void open(const StreamDescriptor& stream) = 0;
  virtual std::expected<ChannelId, CatalogError::Kind> register_channel(const std::string& name,
                                                                        ChannelContent content) = 0;
  /// With one of several producers.
  virtual bool submit(std::size_t producer, SubmitAs how, ChannelId channel,
                      const std::string& payload) = 0;
  virtual std::size_t submit_many(ChannelId channel,
                                  const std::vector<std::string_view>& payloads) = 0;
  virtual bool submit_to_past_life(ChannelId channel, const std::string& payload) = 0;
  virtual bool submit_health() = 0;
  virtual EndpointTick tick() = 0;
  virtual std::vector<FrameBatch> drain_directly() = 0;
  virtual void end() = 0;
  virtual PipeLedger ledger() = 0;

  // --- readers

  virtual SubscriptionStart subscribe(ReaderKey reader, Stage stage, bool pulled,
                                      const std::string& name, const SubscriptionRequest& request,
                                      SubscriberCapacity capacity) = 0;
  /// What a pushed reader was sent since it was last asked.
  virtual std::vector<EventBatch> received(ReaderKey reader) = 0;
  virtual std::expected<EventBatch, RecvError> pull(ReaderKey reader) = 0;
  virtual void acknowledge(ReaderKey reader, std::uint64_t sequence) = 0;
  /// Acknowledges something that nobody may: beyond what the reader was sent, or for a reader that
  /// does not exist.
  virtual void acknowledge_wrongly(Stage stage, std::optional<ReaderKey> reader,
                                   std::uint64_t sequence) = 0;
  /// Leaves, or dies.
  virtual void leave(ReaderKey reader, bool dies) = 0;

  // --- the relay

  virtual EndpointTick relay(const SubscriptionStart& start) = 0;
  virtual EndpointTick relay(const EventBatch& events) = 0;
  virtual RelayLedger relay_ledger() = 0;

  // --- the collector

  virtual void store(const SubscriptionStart& start) = 0;
  virtual void store(const EventBatch& events, StoreAs form) = 0;
  virtual std::vector<StreamId> stored_streams() = 0;
  virtual IngestLedger stored_ledger(const StreamId& stream) = 0;
  virtual bool forget(const StreamId& stream) = 0;
  virtual ForgottenLedger forgotten() = 0;
  /// Stored frames from a position on, at most `at_most`.
  virtual StoredPage page(const StreamId& stream, Position from, std::uint32_t at_most) = 0;
  virtual DatastreamSnapshot stored_catalog() = 0;
  /// For views.
  virtual const StoredStream* stored(const StreamId& stream) = 0;
};

} // namespace datastream::model_test
