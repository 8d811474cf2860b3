#include "core_system.hpp"

#include "must.hpp"

#include <algorithm>
#include <utility>

namespace datastream::model_test {

class CoreSystem::InboxSink final : public SubscriberSink {
public:
  explicit InboxSink(std::shared_ptr<Inbox> inbox) : inbox_(std::move(inbox)) {}
  void deliver(EventBatch batch) override { inbox_->push_back(std::move(batch)); }

private:
  std::shared_ptr<Inbox> inbox_;
};

void CoreSystem::open(const StreamDescriptor& stream) {
  if (!producers_.empty())
    past_ = producers_.front();
  endpoint_ = std::make_unique<DatastreamEndpoint>(stream, PipeOptions{.mux = mux_});
  producers_.clear();
  for (int i = 0; i < 3; ++i)
    producers_.push_back(endpoint_->producer());
}

std::expected<ChannelId, CatalogError::Kind> CoreSystem::register_channel(const std::string& name,
                                                                          ChannelContent content) {
  const auto id = producers_.front().try_register_channel(name, std::move(content));
  if (!id)
    return std::unexpected(id.error().kind);
  return *id;
}

bool CoreSystem::submit(std::size_t producer, SubmitAs how, ChannelId channel,
                        const std::string& payload) {
  const DatastreamProducer& out = producers_.at(producer);
  switch (how) {
  case SubmitAs::bytes:
    return out.submit_bytes(channel, payload);
  case SubmitAs::bytes_owned:
    return out.submit_bytes_owned(channel, payload);
  case SubmitAs::text:
    return out.submit_text(channel, payload);
  case SubmitAs::text_owned:
    break;
  }
  return out.submit_text_owned(channel, payload);
}

std::size_t CoreSystem::submit_many(ChannelId channel,
                                    const std::vector<std::string_view>& payloads) {
  return producers_.front().submit_many(channel, payloads);
}

bool CoreSystem::submit_to_past_life(ChannelId channel, const std::string& payload) {
  return past_->submit_bytes(channel, payload);
}

std::vector<FrameBatch> CoreSystem::drain_directly() {
  std::vector<FrameBatch> batches;
  endpoint_->drain_directly(batches);
  return batches;
}

SubscriptionStart CoreSystem::subscribe(ReaderKey reader, Stage stage, bool pulled,
                                        const std::string& name, const SubscriptionRequest& request,
                                        SubscriberCapacity capacity) {
  Reader added{.stage = stage, .id = {}};
  SubscriptionStart start;
  if (pulled) {
    added.pulled = stage == Stage::node ? endpoint_->subscribe(name, request, capacity)
                                        : relay_.subscribe(name, request, capacity);
    start = {added.pulled->id(), added.pulled->snapshot(), added.pulled->starts()};
  } else {
    added.inbox = std::make_shared<Inbox>();
    auto sink = std::make_unique<InboxSink>(added.inbox);
    start = stage == Stage::node ? endpoint_->attach(name, request, capacity, std::move(sink))
                                 : relay_.attach(name, request, capacity, std::move(sink));
  }
  added.id = start.id;
  added.life = endpoint_->stream_id().life.value;
  readers_.emplace(reader, std::move(added));
  return start;
}

std::vector<EventBatch> CoreSystem::received(ReaderKey reader) {
  return std::exchange(*readers_.at(reader).inbox, {});
}

std::expected<EventBatch, RecvError> CoreSystem::pull(ReaderKey reader) {
  return readers_.at(reader).pulled->try_recv();
}

bool CoreSystem::acknowledge(Stage stage, SubscriptionId id, std::uint64_t sequence) {
  return stage == Stage::node ? endpoint_->acknowledge(id, sequence)
                              : relay_.acknowledge(id, sequence);
}

void CoreSystem::acknowledge(ReaderKey reader, std::uint64_t sequence) {
  const Reader& known = readers_.at(reader);
  must(acknowledge(known.stage, known.id, sequence), "an acknowledgement is taken");
}

void CoreSystem::acknowledge_wrongly(Stage stage, std::optional<ReaderKey> reader,
                                     std::uint64_t sequence) {
  const SubscriptionId id = reader ? readers_.at(*reader).id : SubscriptionId{1'000'000};
  must(!acknowledge(stage, id, sequence), "a stray acknowledgement is ignored");
}

void CoreSystem::leave(ReaderKey reader, bool dies) {
  auto node = readers_.extract(reader);
  Reader& leaving = node.mapped();
  if (leaving.stage == Stage::node && leaving.life != endpoint_->stream_id().life.value)
    return; // its fanout is gone
  if (leaving.pulled && dies)
    return; // destroyed
  if (leaving.pulled) {
    leaving.pulled->unsubscribe();
    const auto after = leaving.pulled->try_recv();
    must(!after && after.error() == RecvError::disconnected, "nothing is read after leaving");
    return;
  }
  const auto leave = [&] {
    return leaving.stage == Stage::node ? endpoint_->unsubscribe(leaving.id)
                                        : relay_.unsubscribe(leaving.id);
  };
  must(leave(), "a reader may leave");
  must(!leave(), "nobody leaves twice");
}

// What an actor does that relays.

EndpointTick CoreSystem::relay(const SubscriptionStart& start) {
  relay_.catalog()->declare_all(start.snapshot);
  for (const StreamStart& stream : start.starts)
    relay_.expect_next(stream.stream, stream.from);
  relay_.refresh();
  return {.subscribers = relay_.subscriber_count()};
}

EndpointTick CoreSystem::relay(const EventBatch& events) {
  for (const Declaration& declaration : events.declarations)
    must(relay_.catalog()->declare(declaration).has_value(), "no declaration conflicts");
  for (const StreamStart& start : events.starts)
    relay_.expect_next(start.stream, start.from);
  const EndpointTick tick = relay_.publish(events.frames);
  relayed_.arrived += events.frames.size();
  (tick.subscribers > 0 ? relayed_.published : relayed_.bitbucketed) += tick.drained;
  if (events.ended)
    relay_.end_stream(events.ended->stream, events.ended->assigned);
  relay_.refresh();
  return tick;
}

RelayLedger CoreSystem::relay_ledger() {
  RelayLedger ledger = relayed_;
  ledger.fanout = relay_.ledger();
  return ledger;
}

void CoreSystem::store(const EventBatch& events, StoreAs form) {
  switch (form) {
  case StoreAs::events:
    consumer_.accept(events);
    return;
  case StoreAs::batch:
    consumer_.accept(events.frames);
    return;
  case StoreAs::deliveries:
    for (const FrameView& frame : events.frames)
      consumer_.accept(Delivery{events.frames.stream(), frame.to_frame()});
    return;
  case StoreAs::single_events:
    events.each_event([this](const DatastreamEvent& event) { consumer_.accept(event); });
  }
}

std::vector<StreamId> CoreSystem::stored_streams() {
  std::vector<StreamId> ids;
  for (const StreamId& id : consumer_.store().stream_ids())
    ids.push_back(id);
  return ids;
}

IngestLedger CoreSystem::stored_ledger(const StreamId& stream) {
  const StoredStream* stored = consumer_.store().find(stream);
  must(stored != nullptr, "a stream of which something came is stored");
  return stored->ledger();
}

StoredPage CoreSystem::page(const StreamId& stream, Position from, std::uint32_t at_most) {
  const StoredStream& stored = *consumer_.store().find(stream);
  StoredPage page;
  for (const FrameView& frame : stored.frames_from(from)) {
    if (page.frames.size() == at_most) {
      page.more = true;
      break;
    }
    page.frames.push_back(frame.to_frame());
  }
  if (const auto evicted = stored.evicted(); evicted && evicted->end > from)
    page.evicted = evicted;
  for (const GapSpan& gap : stored.gaps())
    if (!page.frames.empty() && gap.last >= from && gap.last < page.frames.back().position)
      page.gaps.push_back({std::max(gap.first, from), gap.last});
  return page;
}

} // namespace datastream::model_test
