#include "pipe_model.hpp"

#include "must.hpp"

#include <datastream/defaults.hpp>
#include <datastream/model/health.hpp>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <sstream>

namespace datastream::model_test {
namespace {

constexpr std::size_t most_readers = 5;     // of one fanout
constexpr std::size_t longest_way = 100;    // deliveries
constexpr std::uint32_t most_channels = 24; // whose ids are tried, also without registration

/// What a payload takes of a mux, in units of 8 bytes.
std::uint64_t units_of(const Payload& payload) {
  return std::max<std::uint64_t>((payload.bytes.size() + 7) / 8, 1);
}

ChannelId channel_of(std::uint32_t number) {
  // Ids that were never registered, too.
  return {number % most_channels};
}

SubscriptionRequest request_of(std::uint32_t number, const StreamId& stream) {
  switch (number % 12) {
  case 0:
    return {{}, channel_filter::Name{"a"}};
  case 1:
    return {{}, channel_filter::Prefix{"c"}};
  case 2:
    return {{}, channel_filter::Content{ChannelContentKind::TextStream}};
  case 3:
    return {source_filter::Stream{stream}, {}};
  case 4:
    return {source_filter::Node{"another"}, {}};
  case 5:
    return {source_filter::Origin{StreamOrigin::Bootstrap}, channel_filter::Prefix{""}};
  default:
    return {};
  }
}

/// Only for its messages: the ledgers are compared as a whole as well.
void must_count_so(const FanoutLedger& ledger, const FanoutLedger& expected) {
  must_equal(ledger.subscribers.size(), expected.subscribers.size(), "readers");
  for (std::size_t i = 0; i < ledger.subscribers.size(); ++i) {
    const SubscriberCounts& seen = ledger.subscribers[i].counts;
    const SubscriberCounts& right = expected.subscribers[i].counts;
    must_equal(seen.offered, right.offered, "copies offered to a reader");
    must_equal(seen.acknowledged, right.acknowledged, "copies acknowledged by a reader");
    must_equal(seen.dropped, right.dropped, "copies dropped for a reader");
    must_equal(seen.outstanding, right.outstanding, "copies outstanding at a reader");
  }
  must_equal(ledger.stray_acknowledgements, expected.stray_acknowledgements,
             "stray acknowledgements");
}

std::uint64_t dropped_by(const ModelFanout& fanout) {
  std::uint64_t sum = 0;
  for (const ModelReader& reader : fanout.readers)
    sum += reader.counts.dropped;
  return sum;
}

} // namespace

PipeModel::PipeModel(System& system, const Script& script)
    : system_(system), abilities_(system.abilities()), mux_(script.mux), store_(script.retention) {
  open();
}

void PipeModel::act(const Action& action) {
  switch (action.kind) {
  case ActionKind::register_channel:
    return register_channel(action.x, action.y);
  case ActionKind::submit:
    return submit(action);
  case ActionKind::submit_many:
    return submit_many(action);
  case ActionKind::submit_too_large:
    return submit_too_large(action);
  case ActionKind::submit_to_past_life:
    return submit_to_past_life(action);
  case ActionKind::submit_health:
    return submit_health();
  case ActionKind::tick:
    return tick();
  case ActionKind::drain_directly:
    return drain_directly();
  case ActionKind::end:
    return end();
  case ActionKind::restart:
    return restart(action.x % 2 == 1);
  case ActionKind::subscribe:
    return subscribe(action);
  case ActionKind::read:
    return read(action);
  case ActionKind::leave:
    return leave(action);
  case ActionKind::stray_acknowledgement:
    return acknowledge_wrongly(action);
  case ActionKind::carry:
    return carry(action, false);
  case ActionKind::carry_twice:
    return carry(action, true);
  case ActionKind::lose:
    if (!way_.empty())
      way_.erase(way_.begin() + static_cast<std::ptrdiff_t>(action.x % way_.size()));
    return;
  case ActionKind::forge:
    return forge(action);
  case ActionKind::forget:
    return store_.forget(system_, action.x);
  case ActionKind::query:
    return store_.query(system_, action.x);
  }
}

void PipeModel::check() {
  const PipeLedger expected = node_ledger();
  const PipeLedger ledger = system_.ledger();
  must_equal(ledger.in_mux, expected.in_mux, "frames in the mux");
  must_equal(ledger.assigned, expected.assigned, "positions assigned");
  must_equal(ledger.published, expected.published, "frames published");
  must_equal(ledger.bitbucketed, expected.bitbucketed, "frames bitbucketed");
  must_equal(ledger.refused.total(), expected.refused.total(), "submissions refused");
  must_count_so(ledger.fanout, expected.fanout);
  must(ledger == expected, "ledger of a node");
  must_equal(ledger.submitted(), submitted_, "submissions, as their callers counted them");
  must(ledger.balanced() && expected.balanced(), "the ledger of a node adds up");

  const RelayLedger relayed = system_.relay_ledger();
  must_count_so(relayed.fanout, relay_.ledger());
  must(relayed == relay_ledger(), "ledger of a relay");
  must_equal(relayed.arrived,
             relayed.published + relayed.bitbucketed + relayed.fanout.frames_after_end,
             "frames that arrived at a relay");
  must(relayed.fanout.balanced(), "the counts of the readers of a relay add up");
  store_.check(system_);
}

void PipeModel::finish() {
  tick();
  check();
  read_everything(node_);
  // What frames do not carry is told with the next publication, even an empty one.
  relay({EventBatch{}, {}});
  read_everything(relay_);
  for (std::uint32_t number = 0; number < 40; ++number)
    store_.query(system_, number);
}

// --- what producers do

void PipeModel::register_channel(std::uint32_t name_number, std::uint32_t content_number) {
  const std::string name(1, static_cast<char>('a' + name_number % 20));
  const ChannelContent content = content_number % 3 == 0   ? ChannelContent(TextStream{})
                                 : content_number % 3 == 1 ? ChannelContent(JsonRecord{name})
                                                           : ChannelContent(Bytes{});
  const auto id = system_.register_channel(name, content);
  const auto known = names_.find(name);
  if (known != names_.end()) {
    if (node_.catalog.channel(stream_.stream, known->second)->content == content)
      must(id == known->second, "the same name and content give the same id");
    else
      must(!id && id.error() == CatalogError::Kind::conflicting_name,
           "the same name with other content is refused");
  } else if (ended_) {
    must(!id && id.error() == CatalogError::Kind::stream_ended,
         "a stream that has ended takes no more channels");
  } else {
    const ChannelId next{static_cast<std::uint32_t>(names_.size() + 1)};
    must(id == next, "ids count upwards from 1");
    names_.emplace(name, next);
    node_.catalog.declare({stream_.stream, next, name, std::nullopt, content});
  }
}

void PipeModel::refuse(LossReason reason, std::uint64_t frames) {
  switch (reason) {
  case LossReason::stream_ended:
    refused_.stream_ended += frames;
    break;
  case LossReason::mux_frames_full:
    refused_.mux_frames_full += frames;
    break;
  case LossReason::mux_bytes_full:
    refused_.mux_bytes_full += frames;
    break;
  default:
    refused_.payload_too_large += frames;
  }
}

/// Queues a payload if there is room for it, and counts it.
bool PipeModel::admit(ChannelId channel, PayloadPtr payload) {
  const std::uint64_t units = units_of(*payload);
  LossReason reason{};
  if (ended_)
    reason = LossReason::stream_ended;
  else if (queue_.size() >= mux_.frames)
    reason = LossReason::mux_frames_full;
  else if (queued_units_ + units > mux_.bytes / 8)
    reason = LossReason::mux_bytes_full;
  if (reason != LossReason{}) {
    refuse(reason, 1);
    return false;
  }
  queued_units_ += units;
  queue_.push_back(
      std::make_shared<const ModelFrame>(stream_.stream, channel, Position{}, payload));
  return true;
}

void PipeModel::submit(const Action& action) {
  const ChannelId channel = channel_of(action.x);
  const PayloadPtr payload = make_payload(action.y, action.z);
  ++submitted_;
  const bool accepted = system_.submit(action.z % 3, static_cast<SubmitAs>(action.z / 3 % 4),
                                       channel, payload->bytes);
  must_equal(accepted, admit(channel, payload), "the answer to a submission");
}

void PipeModel::submit_many(const Action& action) {
  if (!abilities_.producers)
    return;
  const ChannelId channel = channel_of(action.x);
  std::vector<PayloadPtr> payloads;
  std::vector<std::string_view> views;
  for (std::uint32_t i = 0; i < action.z % 20U; ++i) {
    payloads.push_back(make_payload(action.y + i, action.z));
    views.push_back(payloads.back()->bytes);
  }
  submitted_ += payloads.size();
  const std::size_t accepted = system_.submit_many(channel, views);
  // The first one that is refused takes those behind it along, for the same reason.
  std::size_t admitted = 0;
  const RefusedCounts before = refused_;
  while (admitted < payloads.size() && admit(channel, payloads[admitted]))
    ++admitted;
  must_equal(accepted, admitted, "how many of several payloads are accepted");
  if (admitted == payloads.size())
    return;
  const std::uint64_t behind = payloads.size() - admitted - 1;
  if (refused_.stream_ended > before.stream_ended)
    refuse(LossReason::stream_ended, behind);
  else if (refused_.mux_frames_full > before.mux_frames_full)
    refuse(LossReason::mux_frames_full, behind);
  else
    refuse(LossReason::mux_bytes_full, behind);
}

void PipeModel::submit_too_large(const Action& action) {
  if (!abilities_.producers)
    return;
  static const std::string payload(defaults::payload_bytes_max + 1, 'z');
  ++submitted_;
  must(!system_.submit(action.z % 3, SubmitAs::bytes, channel_of(action.x), payload),
       "what is larger than the largest payload is refused");
  refuse(LossReason::payload_too_large, 1);
}

void PipeModel::submit_to_past_life(const Action& action) {
  if (abilities_.producers && lives_ > 1)
    must(!system_.submit_to_past_life(channel_of(action.x), make_payload(action.y, 1)->bytes),
         "the producers of a past life are refused");
}

void PipeModel::submit_health() {
  const PipeLedger moment = node_ledger();
  const bool accepted = system_.submit_health();
  if (!ended_ && !names_.contains(health_channel)) {
    const ChannelId next{static_cast<std::uint32_t>(names_.size() + 1)};
    names_.emplace(health_channel, next);
    node_.catalog.declare(
        {stream_.stream, next, health_channel, std::nullopt, JsonRecord{health_channel}});
  }
  Payload payload;
  payload.bytes = encode_health(moment);
  payload.health = moment;
  const auto channel = names_.find(health_channel);
  ++submitted_;
  must_equal(accepted,
             admit(channel == names_.end() ? ChannelId{} : channel->second,
                   std::make_shared<const Payload>(std::move(payload))),
             "the answer to a health record");
}

// --- what drains

Frames PipeModel::assign() {
  Frames frames;
  for (const FramePtr& queued : queue_)
    frames.push_back(std::make_shared<const ModelFrame>(queued->stream, queued->channel,
                                                        Position{assigned_++}, queued->payload));
  queue_.clear();
  queued_units_ = 0;
  return frames;
}

void PipeModel::must_tick_so(const EndpointTick& tick, const ModelFanout& fanout,
                             std::size_t drained, std::uint64_t dropped_before) const {
  const std::uint64_t dropped = dropped_by(fanout) - dropped_before;
  must_equal(tick.drained, drained, "frames drained by a tick");
  must_equal(tick.dropped_for_subscribers, dropped, "copies dropped by a tick");
  must_equal(tick.delivered + tick.dropped_for_subscribers, drained * fanout.readers.size(),
             "copies that a tick delivered or dropped");
}

void PipeModel::tick() {
  const std::uint64_t dropped_before = dropped_by(node_);
  const EndpointTick tick = system_.tick();
  const Frames frames = assign();
  (node_.readers.empty() ? bitbucketed_ : published_) += frames.size();
  node_.publish(frames);
  look(node_);
  must_equal(tick.subscribers, frames.empty() ? 0 : node_.readers.size(), "readers of a tick");
  must_tick_so(tick, node_, frames.size(), dropped_before);
}

void PipeModel::drain_directly() {
  if (!abilities_.drains_directly)
    return;
  const std::vector<FrameBatch> batches = system_.drain_directly();
  const Frames frames = assign();
  drained_directly_ += frames.size();
  node_.expect_next({stream_.stream, {assigned_}});
  auto expected = frames.begin();
  for (const FrameBatch& batch : batches)
    for (const FrameView& frame : batch) {
      must(expected != frames.end() && frame.position == (*expected)->position &&
               frame.channel == (*expected)->channel &&
               frame.payload == (*expected)->payload->bytes,
           "positions follow the order of the queue");
      ++expected;
    }
  must(expected == frames.end(), "a direct drain takes everything");
}

void PipeModel::end() {
  system_.end();
  if (!ended_) {
    const Frames frames = assign();
    (node_.readers.empty() ? bitbucketed_ : published_) += frames.size();
    node_.publish(frames);
    node_.end_stream({stream_.stream, assigned_});
    node_.closed = ended_ = true;
  }
  look(node_);
}

void PipeModel::open() {
  stream_ = {{"node", {++lives_}}, std::nullopt, StreamOrigin::RemoteNode};
  system_.open(stream_);
  node_.catalog.declare(stream_);
  node_.expect_next({stream_.stream, {}});
}

void PipeModel::restart(bool crashes) {
  if (!crashes || !abilities_.crashes)
    end();
  in_past_lives_ += reached_by_node();
  ModelFanout past = std::exchange(node_, {});
  names_.clear();
  queue_.clear();
  queued_units_ = 0;
  refused_ = {};
  submitted_ = assigned_ = published_ = bitbucketed_ = drained_directly_ = 0;
  ended_ = false;
  open();
  // What was queued at a pulled reader can still be read.
  past.closed = true;
  for (ModelReader& reader : past.readers) {
    while (reader.pulled && pull(past, reader)) {
    }
    if (reader.pulled)
      reader.must_know_everything(past.catalog);
    system_.leave(reader.key, true);
  }
}

// --- what readers do

void PipeModel::subscribe(const Action& action) {
  const Stage stage = action.x % 3 == 2 ? Stage::relay : Stage::node;
  ModelFanout& from = fanout(stage);
  if (from.readers.size() == most_readers)
    return;
  ModelReader reader;
  reader.key = ++last_key_;
  reader.pulled =
      (stage == Stage::node ? abilities_.pulled_from_node : abilities_.pulled_from_relay) &&
      action.y % 2 == 0;
  reader.name = reader.pulled ? "pulled" : "pushed";
  reader.request = request_of(action.y / 2, stream_.stream);
  reader.capacity.frames = 1 + action.z % 16;
  if (abilities_.pins && action.y % 3 == 0)
    reader.capacity.bytes = action.z % 2000;
  const SubscriptionStart start = system_.subscribe(reader.key, stage, reader.pulled, reader.name,
                                                    reader.request, reader.capacity);
  from.must_begin_so(start, reader.request);
  reader.id = start.id;
  from.add(std::move(reader));
  put_on_the_way({start, {}});
  look(from);
}

void PipeModel::put_on_the_way(Carried carried) {
  if (way_.size() == longest_way)
    way_.pop_front(); // lost
  way_.push_back(std::move(carried));
}

/// Takes what pushed readers were sent, and whatever else must be seen at once.
void PipeModel::look(ModelFanout& fanout) {
  for (ModelReader& reader : fanout.readers)
    if (!reader.pulled || reader.byte_bound())
      look(fanout, reader);
}

void PipeModel::look(ModelFanout& fanout, ModelReader& reader) {
  while (reader.pulled && pull(fanout, reader)) {
  }
  if (reader.pulled)
    return reader.settle();
  for (EventBatch& delivery : system_.received(reader.key)) {
    Frames frames = reader.take(fanout.catalog, delivery);
    reader.held.push_back(delivery);
    put_on_the_way({std::move(delivery), std::move(frames)});
  }
  reader.settle();
}

bool PipeModel::pull(ModelFanout& fanout, ModelReader& reader) {
  auto delivery = system_.pull(reader.key);
  if (!delivery) {
    must_equal(to_string(delivery.error()), fanout.closed ? "disconnected" : "empty",
               "why nothing can be read");
    reader.must_know_everything(fanout.catalog);
    return false;
  }
  Frames frames = reader.take(fanout.catalog, *delivery);
  reader.acknowledged(frames.size());
  if (reader.byte_bound())
    reader.held.push_back(*delivery);
  put_on_the_way({*std::move(delivery), std::move(frames)});
  return true;
}

bool PipeModel::acknowledge(ModelFanout& fanout, ModelReader& reader, std::size_t at_most) {
  if (reader.held.empty())
    return false;
  std::uint64_t sequence = 0;
  for (; at_most > 0 && !reader.held.empty(); --at_most) {
    const EventBatch& delivery = reader.held.front();
    sequence = delivery.sequence;
    reader.acknowledged(delivery.frames.size());
    reader.held.pop_front();
  }
  system_.acknowledge(reader.key, sequence);
  look(fanout, reader);
  return true;
}

void PipeModel::read(const Action& action) {
  ModelFanout& from = fanout(action.x % 3 == 2 ? Stage::relay : Stage::node);
  if (from.readers.empty())
    return;
  ModelReader& reader = from.readers[action.y % from.readers.size()];
  if (reader.pulled)
    pull(from, reader);
  else
    acknowledge(from, reader, 1 + action.z % 3);
}

void PipeModel::read_everything(ModelFanout& fanout) {
  for (ModelReader& reader : fanout.readers) {
    while (reader.pulled ? pull(fanout, reader) : acknowledge(fanout, reader, 99))
      check();
    reader.must_know_everything(fanout.catalog);
  }
}

void PipeModel::leave(const Action& action) {
  ModelFanout& from = fanout(action.x % 3 == 2 ? Stage::relay : Stage::node);
  if (from.readers.empty())
    return;
  const std::size_t index = action.y % from.readers.size();
  system_.leave(from.readers[index].key, action.z % 2 == 1);
  from.remove(index);
}

void PipeModel::acknowledge_wrongly(const Action& action) {
  const Stage stage = action.x % 3 == 2 ? Stage::relay : Stage::node;
  ModelFanout& from = fanout(stage);
  ++from.strays;
  if (from.readers.empty() || action.z % 3 == 0)
    return system_.acknowledge_wrongly(stage, std::nullopt, 1);
  const ModelReader& reader = from.readers[action.y % from.readers.size()];
  system_.acknowledge_wrongly(stage, reader.key, action.z % 3 == 1 ? 0 : reader.sequence + 1);
}

// --- what becomes of deliveries

void PipeModel::carry(const Action& action, bool again) {
  if (way_.empty())
    return;
  const std::size_t index = action.x % way_.size();
  const Carried carried = way_[index];
  if (!again)
    way_.erase(way_.begin() + static_cast<std::ptrdiff_t>(index));
  if (action.y % 4 == 3)
    relay(carried);
  else
    store(carried, abilities_.forms ? static_cast<StoreAs>(action.z % 4) : StoreAs::events);
}

/// Frames of the same positions, with other payloads. Only ingest can notice.
void PipeModel::forge(const Action& action) {
  if (way_.empty())
    return;
  Carried forged = way_[action.x % way_.size()];
  if (forged.frames.empty())
    return;
  std::vector<Frame> frames;
  for (FramePtr& frame : forged.frames) {
    const PayloadPtr payload = make_payload(action.y, action.z);
    frames.push_back({frame->channel, frame->position, payload->bytes});
    frame =
        std::make_shared<const ModelFrame>(frame->stream, frame->channel, frame->position, payload);
  }
  std::get<EventBatch>(forged.what).frames =
      FrameBatch::copy_of(forged.frames.front()->stream, frames);
  put_on_the_way(std::move(forged));
}

void PipeModel::store(const Carried& carried, StoreAs form) {
  if (const auto* start = std::get_if<SubscriptionStart>(&carried.what)) {
    system_.store(*start);
    store_.begin(*start);
  } else {
    system_.store(std::get<EventBatch>(carried.what), form);
    store_.accept(std::get<EventBatch>(carried.what), carried.frames, form);
  }
}

void PipeModel::relay(const Carried& carried) {
  const std::uint64_t dropped_before = dropped_by(relay_);
  if (const auto* start = std::get_if<SubscriptionStart>(&carried.what)) {
    const EndpointTick tick = system_.relay(*start);
    relay_.catalog.declare(start->snapshot);
    for (const StreamStart& stream : start->starts)
      relay_.expect_next(stream);
    look(relay_);
    must_tick_so(tick, relay_, 0, dropped_before);
    return;
  }
  const auto& events = std::get<EventBatch>(carried.what);
  const EndpointTick tick = system_.relay(events);
  for (const Declaration& declaration : events.declarations)
    relay_.catalog.declare(declaration);
  for (const StreamStart& start : events.starts)
    relay_.expect_next(start);
  const bool taken = relay_.publish(carried.frames);
  const std::size_t published = taken ? carried.frames.size() : 0;
  relay_arrived_ += carried.frames.size();
  (relay_.readers.empty() ? relay_bitbucketed_ : relay_published_) += published;
  if (events.ended)
    relay_.end_stream(*events.ended);
  look(relay_);
  must_tick_so(tick, relay_, published, dropped_before);
}

// --- the ledgers

PipeLedger PipeModel::node_ledger() const {
  PipeLedger ledger;
  ledger.stream = stream_.stream;
  ledger.refused = refused_;
  ledger.in_mux = queue_.size();
  ledger.assigned = assigned_;
  ledger.published = published_;
  ledger.bitbucketed = bitbucketed_;
  ledger.drained_directly = drained_directly_;
  ledger.ended = ended_;
  ledger.fanout = node_.ledger();
  return ledger;
}

RelayLedger PipeModel::relay_ledger() const {
  return {relay_arrived_, relay_published_, relay_bitbucketed_, relay_.ledger()};
}

// --- what was tried

Reached& Reached::operator+=(const Reached& other) {
  lives += other.lives;
  refused.mux_frames_full += other.refused.mux_frames_full;
  refused.mux_bytes_full += other.refused.mux_bytes_full;
  refused.stream_ended += other.refused.stream_ended;
  refused.payload_too_large += other.refused.payload_too_large;
  assigned += other.assigned;
  bitbucketed += other.bitbucketed;
  drained_directly += other.drained_directly;
  readers_of_node += other.readers_of_node;
  readers_of_relay += other.readers_of_relay;
  after_end_at_relay += other.after_end_at_relay;
  stored += other.stored;
  duplicates += other.duplicates;
  conflicts += other.conflicts;
  late_for_evicted += other.late_for_evicted;
  evicted += other.evicted;
  missing += other.missing;
  forgotten += other.forgotten;
  return *this;
}

Reached PipeModel::reached_by_node() const {
  Reached reached;
  reached.lives = 1;
  reached.refused = refused_;
  reached.assigned = assigned_;
  reached.bitbucketed = bitbucketed_;
  reached.drained_directly = drained_directly_;
  reached.readers_of_node = node_.total();
  return reached;
}

Reached PipeModel::reached() const {
  Reached reached = in_past_lives_;
  reached += reached_by_node();
  reached.readers_of_relay = relay_.total();
  reached.after_end_at_relay = relay_.after_end;
  for (const IngestLedger& ledger : store_.ledgers()) {
    reached.stored += ledger.stored;
    reached.duplicates += ledger.duplicates;
    reached.conflicts += ledger.conflicts;
    reached.late_for_evicted += ledger.late_for_evicted;
    reached.evicted += ledger.evicted;
    reached.missing += ledger.missing();
  }
  const ForgottenLedger& forgotten = store_.forgotten();
  reached.stored += forgotten.stored;
  reached.duplicates += forgotten.duplicates;
  reached.conflicts += forgotten.conflicts;
  reached.late_for_evicted += forgotten.late_for_evicted;
  reached.evicted += forgotten.evicted;
  reached.missing += forgotten.missing;
  reached.forgotten += forgotten.streams;
  return reached;
}

Reached run(System& system, const Script& script) {
  std::size_t step = 0;
  std::ostringstream doing;
  try {
    doing << "opening";
    PipeModel model(system, script);
    for (const Action& action : script.actions) {
      doing.str({});
      doing << action;
      model.act(action);
      model.check();
      ++step;
    }
    doing.str("reading everything");
    model.finish();
    return model.reached();
  } catch (const Violation& violation) {
    throw Violation("step " + std::to_string(step) + ", " + doing.str() + ": " + violation.what());
  }
}

} // namespace datastream::model_test
