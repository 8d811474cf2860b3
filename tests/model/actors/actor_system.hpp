#pragma once
/// The pipe as actors that tick when they are told to: an endpoint, a fanout actor as relay, a
/// consumer actor, and a subscriber actor for each pushed reader.

#include "system.hpp"

#include <actor_test.hpp>
#include <child_process.hpp>

#include <datastream/actors/consumer_actor.hpp>
#include <datastream/actors/endpoint.hpp>
#include <datastream/actors/fanout_actor.hpp>
#include <datastream/actors/type_ids.hpp>

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace datastream::model_test {

/// Everything but the node. What one actor has told another before it answered us, the other one
/// handles before what we ask it next; so two questions, first to who sends and then to who
/// receives, wait for whatever is on its way between them.
class ActorSystem : public System {
public:
  ActorSystem(caf::actor_system& system, const Script& script);
  ~ActorSystem() override;

  std::expected<ChannelId, CatalogError::Kind> register_channel(const std::string& name,
                                                                ChannelContent content) override;
  bool submit(std::size_t producer, SubmitAs how, ChannelId channel,
              const std::string& payload) override;
  bool submit_health() override;
  EndpointTick tick() override;
  void end() override;
  PipeLedger ledger() override;

  SubscriptionStart subscribe(ReaderKey reader, Stage stage, bool pulled, const std::string& name,
                              const SubscriptionRequest& request,
                              SubscriberCapacity capacity) override;
  std::vector<EventBatch> received(ReaderKey reader) override;
  void acknowledge(ReaderKey reader, std::uint64_t sequence) override;
  void acknowledge_wrongly(Stage stage, std::optional<ReaderKey> reader,
                           std::uint64_t sequence) override;
  void leave(ReaderKey reader, bool dies) override;

  EndpointTick relay(const SubscriptionStart& start) override;
  EndpointTick relay(const EventBatch& events) override;
  RelayLedger relay_ledger() override;

  void store(const SubscriptionStart& start) override;
  void store(const EventBatch& events, StoreAs form) override;
  std::vector<StreamId> stored_streams() override;
  IngestLedger stored_ledger(const StreamId& stream) override;
  bool forget(const StreamId& stream) override;
  ForgottenLedger forgotten() override;
  StoredPage page(const StreamId& stream, Position from, std::uint32_t at_most) override;
  DatastreamSnapshot stored_catalog() override;
  const StoredStream* stored(const StreamId&) override { return nullptr; }

protected:
  const MuxOptions& mux() const { return mux_; }
  caf::actor_system& system() { return system_; }
  /// The actor of the present life.
  virtual caf::actor node() const = 0;

  template <class Answer, class... Parts>
  Answer answer_of(const caf::actor& actor, Parts&&... parts);

private:
  struct Inbox;
  struct Reader {
    Stage stage = Stage::node;
    caf::actor actor{};
    std::shared_ptr<Inbox> inbox{};
    SubscriptionId id;
    StreamId life; ///< of the node
  };

  static caf::behavior reader(caf::event_based_actor* self, const std::shared_ptr<Inbox>& inbox,
                              const Subscribe& request);
  caf::actor serving(Stage stage) const { return stage == Stage::node ? node() : relay_; }
  /// Whoever serves this stage's readers has handled everything that it was told before.
  void sync(Stage stage);
  FanoutLedger fanout_ledger(Stage stage);

  caf::actor_system& system_;
  const MuxOptions mux_;
  caf::actor relay_;
  caf::actor consumer_;
  std::map<ReaderKey, Reader> readers_;
};

/// The node is an endpoint of this process.
class LocalActorSystem final : public ActorSystem {
public:
  LocalActorSystem(caf::actor_system& actors, const Script& script, FanoutPlacement fanout)
      : ActorSystem(actors, script), fanout_(fanout) {}
  Abilities abilities() const override {
    return {.pulled_from_relay = false,
            .drains_directly = false,
            .crashes = false,
            .forms = false,
            .views = false};
  }

  void open(const StreamDescriptor& stream) override;
  bool submit(std::size_t producer, SubmitAs how, ChannelId channel,
              const std::string& payload) override;
  std::size_t submit_many(ChannelId channel,
                          const std::vector<std::string_view>& payloads) override;
  bool submit_to_past_life(ChannelId channel, const std::string& payload) override;
  std::vector<FrameBatch> drain_directly() override { return {}; }
  SubscriptionStart subscribe(ReaderKey reader, Stage stage, bool pulled, const std::string& name,
                              const SubscriptionRequest& request,
                              SubscriberCapacity capacity) override;
  std::expected<EventBatch, RecvError> pull(ReaderKey reader) override;
  void leave(ReaderKey reader, bool dies) override;

protected:
  caf::actor node() const override { return endpoint_->ref().actor(); }

private:
  const FanoutPlacement fanout_;
  std::optional<Endpoint> endpoint_;
  std::vector<DatastreamProducer> producers_;
  std::optional<DatastreamProducer> past_;
  std::map<ReaderKey, DatastreamSubscription> pulled_;
};

/// The node is an endpoint of a second process, which is killed to begin a new life.
class ProcessSystem final : public ActorSystem {
public:
  using ActorSystem::ActorSystem;
  Abilities abilities() const override {
    return {.producers = false,
            .pulled_from_node = false,
            .pulled_from_relay = false,
            .pins = false,
            .drains_directly = false,
            .forms = false,
            .views = false};
  }

  void open(const StreamDescriptor& stream) override;
  std::size_t submit_many(ChannelId, const std::vector<std::string_view>&) override { return 0; }
  bool submit_to_past_life(ChannelId, const std::string&) override { return false; }
  std::vector<FrameBatch> drain_directly() override { return {}; }
  std::expected<EventBatch, RecvError> pull(ReaderKey) override {
    return std::unexpected(RecvError::disconnected);
  }

protected:
  caf::actor node() const override { return node_; }

private:
  std::unique_ptr<test::ChildProcess> process_;
  caf::actor node_;
};

} // namespace datastream::model_test
