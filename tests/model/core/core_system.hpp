#pragma once
/// The pipe itself, without actors: an endpoint, a fanout as relay, and a consumer.

#include "system.hpp"

#include <datastream/ingest/consumer.hpp>
#include <datastream/pipe/delivery_fanout.hpp>
#include <datastream/pipe/endpoint.hpp>

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace datastream::model_test {

/// Virtual functions may be overridden to misbehave: see `wrong_systems.hpp`.
class CoreSystem : public System {
public:
  explicit CoreSystem(const Script& script) : mux_(script.mux), consumer_(script.retention) {}

  void open(const StreamDescriptor& stream) override;
  std::expected<ChannelId, CatalogError::Kind> register_channel(const std::string& name,
                                                                ChannelContent content) override;
  bool submit(std::size_t producer, SubmitAs how, ChannelId channel,
              const std::string& payload) override;
  std::size_t submit_many(ChannelId channel,
                          const std::vector<std::string_view>& payloads) override;
  bool submit_to_past_life(ChannelId channel, const std::string& payload) override;
  bool submit_health() override { return endpoint_->submit_health(); }
  EndpointTick tick() override { return endpoint_->tick(); }
  std::vector<FrameBatch> drain_directly() override;
  void end() override { endpoint_->end_stream(); }
  PipeLedger ledger() override { return endpoint_->ledger(); }

  SubscriptionStart subscribe(ReaderKey reader, Stage stage, bool pulled, const std::string& name,
                              const SubscriptionRequest& request,
                              SubscriberCapacity capacity) override;
  std::vector<EventBatch> received(ReaderKey reader) override;
  std::expected<EventBatch, RecvError> pull(ReaderKey reader) override;
  void acknowledge(ReaderKey reader, std::uint64_t sequence) override;
  void acknowledge_wrongly(Stage stage, std::optional<ReaderKey> reader,
                           std::uint64_t sequence) override;
  void leave(ReaderKey reader, bool dies) override;

  EndpointTick relay(const SubscriptionStart& start) override;
  EndpointTick relay(const EventBatch& events) override;
  RelayLedger relay_ledger() override;

  void store(const SubscriptionStart& start) override { consumer_.begin(start); }
  void store(const EventBatch& events, StoreAs form) override;
  std::vector<StreamId> stored_streams() override;
  IngestLedger stored_ledger(const StreamId& stream) override;
  bool forget(const StreamId& stream) override { return consumer_.forget(stream); }
  ForgottenLedger forgotten() override { return consumer_.store().forgotten(); }
  StoredPage page(const StreamId& stream, Position from, std::uint32_t at_most) override;
  DatastreamSnapshot stored_catalog() override { return consumer_.catalog().snapshot().snapshot; }
  const StoredStream* stored(const StreamId& stream) override {
    return consumer_.store().find(stream);
  }

private:
  using Inbox = std::vector<EventBatch>;
  class InboxSink;
  struct Reader {
    Stage stage = Stage::node;
    SubscriptionId id;
    std::optional<DatastreamSubscription> pulled{};
    std::shared_ptr<Inbox> inbox{}; // pushed
    std::uint64_t life = 0;         // of the node
  };

  bool acknowledge(Stage stage, SubscriptionId id, std::uint64_t sequence);

  const MuxOptions mux_;
  std::unique_ptr<DatastreamEndpoint> endpoint_;
  std::vector<DatastreamProducer> producers_;
  std::optional<DatastreamProducer> past_;
  DeliveryFanout relay_;
  RelayLedger relayed_; // but for what the fanout counts
  std::map<ReaderKey, Reader> readers_;
  Consumer consumer_;
};

} // namespace datastream::model_test
