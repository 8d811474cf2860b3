#include "actor_system.hpp"

#include "must.hpp"

#include <middleman_test.hpp>

#include <datastream/actors/remote.hpp>
#include <datastream/caf/send.hpp>

#include <caf/send.hpp>
#include <caf/typed_response_promise.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

namespace datastream::model_test {

/// What a reader was sent: written by its actor, taken by us.
struct ActorSystem::Inbox {
  std::mutex mutex;
  std::vector<EventBatch> batches;
};

/// Keeps what comes, and acknowledges when it is told to.
caf::behavior ActorSystem::reader(caf::event_based_actor* self, const std::shared_ptr<Inbox>& inbox,
                                  const Subscribe& request) {
  Subscriber in{self};
  const auto receipts = std::make_shared<std::map<std::uint64_t, Receipt>>();
  const auto subscription = std::make_shared<std::uint64_t>(0);
  return in.handlers(
      [=](follow_atom, const caf::actor& endpoint) mutable -> caf::result<SubscriptionStart> {
        const auto promise = std::make_shared<caf::typed_response_promise<SubscriptionStart>>(
            self->make_response_promise<SubscriptionStart>());
        SubscriptionHandlers handlers;
        handlers.on_start = [promise](const SubscriptionStart& start) { promise->deliver(start); };
        handlers.on_delivery = [=](const EventBatch& batch, const Receipt& receipt) {
          receipts->emplace(batch.sequence, receipt);
          const std::lock_guard lock(inbox->mutex);
          inbox->batches.push_back(batch);
        };
        *subscription = in.subscribe(EndpointRef(endpoint), std::move(handlers), request);
        return *promise;
      },
      [=](acknowledge_atom, SubscriptionId, std::uint64_t sequence) {
        const auto it = receipts->find(sequence);
        if (it == receipts->end())
          return false;
        it->second.acknowledge();
        receipts->erase(receipts->begin(), std::next(it));
        return true;
      },
      [=](unsubscribe_atom, SubscriptionId) mutable {
        in.unsubscribe(*subscription);
        return true;
      },
      [](settle_atom) { return true; });
}

ActorSystem::ActorSystem(caf::actor_system& system, const Script& script)
    : system_(system), mux_(script.mux), relay_(spawn_fanout(system)),
      consumer_(spawn_consumer(system, {.retention = script.retention})) {}

ActorSystem::~ActorSystem() {
  for (const auto& [key, reader] : readers_)
    test::stop(reader.actor);
  test::stop(relay_);
  test::stop(consumer_);
}

template <class Answer, class... Parts>
Answer ActorSystem::answer_of(const caf::actor& actor, Parts&&... parts) {
  auto answer = test::ask<Answer>(system_, actor, std::forward<Parts>(parts)...);
  if (!answer)
    throw Violation("a request is answered, and not with " + to_string(answer.error()));
  return *std::move(answer);
}

std::expected<ChannelId, CatalogError::Kind> ActorSystem::register_channel(const std::string& name,
                                                                           ChannelContent content) {
  const auto id = test::ask<ChannelId>(system_, node(), register_atom_v, name, std::move(content));
  if (id)
    return *id;
  return std::unexpected(id.error() == ActorError::stream_ended
                             ? CatalogError::Kind::stream_ended
                             : CatalogError::Kind::conflicting_name);
}

bool ActorSystem::submit(std::size_t, SubmitAs, ChannelId channel, const std::string& payload) {
  return answer_of<bool>(node(), submit_atom_v, channel, payload);
}

bool ActorSystem::submit_health() {
  return answer_of<bool>(node(), health_atom_v);
}

EndpointTick ActorSystem::tick() {
  return answer_of<EndpointTick>(node(), tick_atom_v);
}

void ActorSystem::end() {
  answer_of<PipeLedger>(node(), end_atom_v);
}

void ActorSystem::sync(Stage stage) {
  // Answered by whoever serves readers, be it an actor of its own.
  must(!answer_of<bool>(serving(stage), unsubscribe_atom_v, SubscriptionId{}),
       "nobody leaves who has not come");
}

PipeLedger ActorSystem::ledger() {
  sync(Stage::node);
  return answer_of<PipeLedger>(node(), ledger_atom_v);
}

SubscriptionStart ActorSystem::subscribe(ReaderKey key, Stage stage, bool, const std::string& name,
                                         const SubscriptionRequest& request,
                                         SubscriberCapacity capacity) {
  Reader added{stage, {}, std::make_shared<Inbox>(), {}, {}};
  added.actor = system_.spawn(reader, added.inbox,
                              Subscribe{.name = name, .request = request, .capacity = capacity});
  const auto start = answer_of<SubscriptionStart>(added.actor, follow_atom_v, serving(stage));
  added.id = start.id;
  added.life = ledger().stream;
  readers_.emplace(key, std::move(added));
  return start;
}

std::vector<EventBatch> ActorSystem::received(ReaderKey key) {
  const Reader& known = readers_.at(key);
  sync(known.stage);
  answer_of<bool>(known.actor, settle_atom_v);
  const std::lock_guard lock(known.inbox->mutex);
  return std::exchange(known.inbox->batches, {});
}

void ActorSystem::acknowledge(ReaderKey key, std::uint64_t sequence) {
  const Reader& known = readers_.at(key);
  must(answer_of<bool>(known.actor, acknowledge_atom_v, known.id, sequence),
       "what was delivered can be acknowledged");
}

void ActorSystem::acknowledge_wrongly(Stage stage, std::optional<ReaderKey> key,
                                      std::uint64_t sequence) {
  // From a stranger, whatever it says.
  const auto known = key ? readers_.find(*key) : readers_.end();
  const SubscriptionId id = known == readers_.end() ? SubscriptionId{1} : known->second.id;
  compat::anon_send(serving(stage), acknowledge_atom_v, id, sequence);
}

FanoutLedger ActorSystem::fanout_ledger(Stage stage) {
  return stage == Stage::node ? ledger().fanout : relay_ledger().fanout;
}

void ActorSystem::leave(ReaderKey key, bool dies) {
  const auto known = readers_.extract(key);
  const Reader& leaving = known.mapped();
  if (!dies)
    answer_of<bool>(leaving.actor, unsubscribe_atom_v, leaving.id);
  test::stop(leaving.actor);
  if (leaving.stage == Stage::node && leaving.life != ledger().stream)
    return; // its fanout is gone
  must(test::eventually([&] {
         const FanoutLedger now = fanout_ledger(leaving.stage);
         return std::ranges::none_of(now.subscribers,
                                     [&](const auto& entry) { return entry.id == leaving.id; });
       }),
       "a reader that leaves or dies is removed");
}

EndpointTick ActorSystem::relay(const SubscriptionStart& start) {
  return answer_of<EndpointTick>(relay_, publish_atom_v, start);
}

EndpointTick ActorSystem::relay(const EventBatch& events) {
  return answer_of<EndpointTick>(relay_, publish_atom_v, events);
}

RelayLedger ActorSystem::relay_ledger() {
  const auto ledger = answer_of<PublicationLedger>(relay_, ledger_atom_v);
  must(ledger.balanced(), "the ledger of a fanout actor adds up");
  must_equal(ledger.malformed_frames, 0U, "malformed frames at a fanout actor");
  must_equal(ledger.conflicting_declarations, 0U, "conflicts at a fanout actor");
  return {ledger.arrived, ledger.published, ledger.bitbucketed, ledger.fanout};
}

void ActorSystem::store(const SubscriptionStart& start) {
  answer_of<EndpointTick>(consumer_, publish_atom_v, start);
}

void ActorSystem::store(const EventBatch& events, StoreAs) {
  answer_of<EndpointTick>(consumer_, publish_atom_v, events);
}

std::vector<StreamId> ActorSystem::stored_streams() {
  return answer_of<std::vector<StreamId>>(consumer_, streams_atom_v);
}

IngestLedger ActorSystem::stored_ledger(const StreamId& stream) {
  return answer_of<IngestLedger>(consumer_, ledger_atom_v, stream);
}

bool ActorSystem::forget(const StreamId& stream) {
  return answer_of<bool>(consumer_, forget_atom_v, stream);
}

ForgottenLedger ActorSystem::forgotten() {
  return answer_of<ConsumerLedger>(consumer_, ledger_atom_v).forgotten;
}

StoredPage ActorSystem::page(const StreamId& stream, Position from, std::uint32_t at_most) {
  const auto answer = answer_of<FramePage>(consumer_, page_atom_v, stream, from, at_most);
  StoredPage page{
      .frames = {}, .evicted = answer.evicted, .gaps = answer.gaps, .more = answer.more};
  for (const FrameView& frame : answer.frames)
    page.frames.push_back(frame.to_frame());
  return page;
}

DatastreamSnapshot ActorSystem::stored_catalog() {
  return answer_of<DatastreamSnapshot>(consumer_, snapshot_atom_v, SubscriptionRequest::all());
}

// --- the node is here

void LocalActorSystem::open(const StreamDescriptor& stream) {
  if (!producers_.empty())
    past_ = producers_.front();
  producers_.clear();
  endpoint_.reset();
  endpoint_.emplace(system(), EndpointOptions{.node = stream.stream.node,
                                              .life = stream.stream.life,
                                              .label = stream.label,
                                              .origin = stream.origin,
                                              .mux = mux(),
                                              .fanout = fanout_,
                                              .tick_interval = EndpointOptions::manual,
                                              .close_deadline = std::chrono::milliseconds(0)});
  for (int i = 0; i < 2; ++i)
    producers_.push_back(endpoint_->producer());
}

/// With one of several handles, or by a message.
bool LocalActorSystem::submit(std::size_t producer, SubmitAs how, ChannelId channel,
                              const std::string& payload) {
  if (producer == producers_.size())
    return ActorSystem::submit(producer, how, channel, payload);
  const DatastreamProducer& out = producers_.at(producer);
  return how == SubmitAs::bytes || how == SubmitAs::text ? out.submit_bytes(channel, payload)
                                                         : out.submit_text_owned(channel, payload);
}

std::size_t LocalActorSystem::submit_many(ChannelId channel,
                                          const std::vector<std::string_view>& payloads) {
  return producers_.front().submit_many(channel, payloads);
}

bool LocalActorSystem::submit_to_past_life(ChannelId channel, const std::string& payload) {
  return past_->submit_bytes(channel, payload);
}

SubscriptionStart LocalActorSystem::subscribe(ReaderKey reader, Stage stage, bool pulled,
                                              const std::string& name,
                                              const SubscriptionRequest& request,
                                              SubscriberCapacity capacity) {
  if (!pulled)
    return ActorSystem::subscribe(reader, stage, pulled, name, request, capacity);
  const DatastreamSubscription& added =
      pulled_.emplace(reader, endpoint_->subscribe(name, request, capacity)).first->second;
  return {added.id(), added.snapshot(), added.starts()};
}

std::expected<EventBatch, RecvError> LocalActorSystem::pull(ReaderKey reader) {
  return pulled_.at(reader).try_recv();
}

void LocalActorSystem::leave(ReaderKey reader, bool dies) {
  if (pulled_.erase(reader) == 0)
    ActorSystem::leave(reader, dies);
}

// --- the node is in another process

void ProcessSystem::open(const StreamDescriptor& stream) {
  node_ = nullptr;
  process_ = test::peer(stream.stream.node.value, std::to_string(stream.stream.life.value),
                        std::to_string(mux().frames), std::to_string(mux().bytes));
  const auto found = connect(system(), "127.0.0.1", test::port_of(*process_));
  if (!found)
    throw Violation("a node in another process is found, and not " + to_string(found.error()));
  node_ = found->actor();
}

} // namespace datastream::model_test
