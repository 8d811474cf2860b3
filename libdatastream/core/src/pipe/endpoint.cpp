#include <datastream/pipe/endpoint.hpp>

#include "pipe_state.hpp"

#include <datastream/detail/end_pause.hpp>
#include <datastream/model/health.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <utility>

namespace datastream {

struct DatastreamEndpoint::State {
  State(StreamDescriptor stream, PipeOptions pipe_options)
      : pipe(std::make_shared<PipeState>(std::move(stream), pipe_options.mux)),
        health_interval(std::clamp(pipe_options.health_interval, std::chrono::milliseconds(0),
                                   defaults::health_interval_max)),
        health_due(std::chrono::steady_clock::now() + health_interval) {}

  /// Whether subscribers are to be told something that no frame carries. The lock must be held.
  bool news_due() const {
    return pipe->catalog->version() != refreshed_version || !joined_late.empty();
  }

  const std::shared_ptr<PipeState> pipe;
  const std::chrono::milliseconds health_interval;

  mutable std::mutex tick_mutex; // guards all below
  std::chrono::steady_clock::time_point health_due;
  std::vector<FrameBatch> drained; // and not yet published
  std::size_t refreshed_version = 0;
  /// Who joined after the end, or while something was declared: the next tick tells them.
  std::vector<SubscriptionId> joined_late;
  std::uint64_t published = 0;
  std::uint64_t bitbucketed = 0;
  std::uint64_t drained_directly = 0;
  std::atomic<bool> ended{false};
};

DatastreamEndpoint::DatastreamEndpoint(StreamDescriptor stream, PipeOptions options)
    : state_(std::make_unique<State>(std::move(stream), options)) {}

DatastreamEndpoint::DatastreamEndpoint(StreamId stream, PipeOptions options)
    : DatastreamEndpoint(
          StreamDescriptor{std::move(stream), std::nullopt, StreamOrigin::RemoteNode}, options) {}

DatastreamEndpoint::~DatastreamEndpoint() {
  state_->pipe->mux.set_waker(nullptr);
  state_->pipe->mux.close();
  state_->pipe->catalog->close_stream(stream_id());
  state_->pipe->fanout.close();
}

const StreamId& DatastreamEndpoint::stream_id() const noexcept {
  return state_->pipe->mux.stream_id();
}

DatastreamProducer DatastreamEndpoint::producer() const {
  return DatastreamProducer(state_->pipe);
}

std::shared_ptr<const Catalog> DatastreamEndpoint::catalog() const noexcept {
  return state_->pipe->catalog;
}

ChannelId DatastreamEndpoint::register_channel(std::string name, ChannelContent content) {
  return producer().register_channel(std::move(name), std::move(content));
}

std::expected<ChannelId, CatalogError>
DatastreamEndpoint::try_register_channel(std::string name, ChannelContent content) {
  return state_->pipe->register_channel(std::move(name), std::move(content));
}

DatastreamSubscription DatastreamEndpoint::subscribe(std::string name, SubscriptionRequest request,
                                                     SubscriberCapacity capacity) {
  DeliveryFanout& fanout = state_->pipe->fanout;
  auto prepared = fanout.prepare(std::move(name), std::move(request), capacity);
  const std::lock_guard lock(state_->tick_mutex); // a subscription begins between two ticks
  return fanout.subscribe(std::move(prepared));
}

SubscriptionStart DatastreamEndpoint::attach(std::string name, SubscriptionRequest request,
                                             SubscriberCapacity capacity,
                                             std::unique_ptr<SubscriberSink> sink) {
  PipeState& pipe = *state_->pipe;
  auto prepared = pipe.fanout.prepare(std::move(name), std::move(request), capacity);
  SubscriptionStart start;
  {
    const std::lock_guard lock(state_->tick_mutex);
    // What was declared meanwhile, a tick may have told everybody else already.
    const bool late = state_->ended || pipe.catalog->version() != prepared.catalog_version();
    if (late)
      state_->joined_late.emplace_back(); // here, because nothing may fail after attaching
    start = pipe.fanout.attach(std::move(prepared), std::move(sink));
    if (!late)
      return start;
    state_->joined_late.back() = start.id;
  }
  pipe.mux.wake();
  return start;
}

bool DatastreamEndpoint::acknowledge(SubscriptionId id, std::uint64_t sequence) {
  return state_->pipe->fanout.acknowledge(id, sequence);
}

bool DatastreamEndpoint::unsubscribe(SubscriptionId id) {
  return state_->pipe->fanout.unsubscribe(id);
}

std::chrono::milliseconds DatastreamEndpoint::health_interval() const noexcept {
  return state_->health_interval;
}

bool DatastreamEndpoint::settled() const {
  return state_->pipe->fanout.settled();
}

void DatastreamEndpoint::refresh(SubscriptionId id) {
  state_->pipe->fanout.refresh(id);
}

/// The tick lock must be held.
void DatastreamEndpoint::drain_locked() {
  try {
    state_->pipe->mux.drain(state_->drained);
  } catch (const std::bad_alloc&) {
    // What could not be taken is still queued; what was taken is published.
  }
}

/// The tick lock must be held.
EndpointTick DatastreamEndpoint::publish_locked() {
  State& state = *state_;
  PipeState& pipe = *state.pipe;
  EndpointTick tick;
  if (!state.drained.empty()) {
    tick = pipe.fanout.publish(state.drained);
    (tick.subscribers ? state.published : state.bitbucketed) += tick.drained;
    state.drained.clear();
  }
  if (const std::size_t version = pipe.catalog->version(); version != state.refreshed_version) {
    state.refreshed_version = version;
    pipe.fanout.refresh();
  }
  for (const SubscriptionId id : std::exchange(state.joined_late, {}))
    pipe.fanout.refresh(id);
  return tick;
}

void DatastreamEndpoint::submit_health_when_due() {
  if (state_->health_interval.count() == 0)
    return;
  const auto now = std::chrono::steady_clock::now();
  {
    const std::lock_guard lock(state_->tick_mutex);
    if (now < state_->health_due || state_->ended)
      return;
    state_->health_due = now + state_->health_interval;
  }
  submit_health();
}

EndpointTick DatastreamEndpoint::tick() {
  submit_health_when_due();
  const std::lock_guard lock(state_->tick_mutex);
  drain_locked();
  return publish_locked();
}

bool DatastreamEndpoint::drain() {
  submit_health_when_due();
  const std::lock_guard lock(state_->tick_mutex);
  drain_locked();
  return !state_->drained.empty() || state_->news_due();
}

EndpointTick DatastreamEndpoint::publish_drained() {
  const std::lock_guard lock(state_->tick_mutex);
  return publish_locked();
}

std::size_t DatastreamEndpoint::drain_directly(std::vector<FrameBatch>& batches) {
  const std::lock_guard lock(state_->tick_mutex);
  Mux& mux = state_->pipe->mux;
  if (!state_->drained.empty())
    publish_locked(); // they come first: subscribers are told that it goes on behind what is taken
  const std::uint64_t before = mux.assigned();
  const auto taken = [&] { return mux.assigned() - before; };
  try {
    mux.drain(batches);
  } catch (const std::bad_alloc&) {
    if (taken() == 0)
      throw;
    // What could not be taken is still queued; what was taken is the caller's.
  }
  state_->drained_directly += taken();
  state_->pipe->fanout.expect_next(stream_id(), Position{mux.assigned()});
  return taken();
}

bool DatastreamEndpoint::submit_health() {
  try {
    auto channel = try_register_channel(health_channel, JsonRecord{health_channel});
    if (!channel && channel.error().kind == CatalogError::Kind::conflicting_name)
      channel = catalog()->find_channel(stream_id(), health_channel)->id; // the name decides
    // Without a channel the record is refused by the ended mux, and counted there.
    return state_->pipe->mux.submit_owned(channel.value_or(ChannelId{}), encode_health(ledger()));
  } catch (const std::bad_alloc&) {
    return state_->pipe->mux.refuse_out_of_memory();
  }
}

void DatastreamEndpoint::end_stream() {
  state_->pipe->catalog->close_stream(stream_id());
  state_->pipe->mux.close();
  // Others may tick, subscribe and ask for the ledger meanwhile.
  for (int attempt = 0; !try_end_stream(); ++attempt)
    detail::end_pause(attempt);
}

bool DatastreamEndpoint::try_end_stream() {
  PipeState& pipe = *state_->pipe;
  const std::lock_guard lock(state_->tick_mutex);
  if (state_->ended)
    return true;
  drain_locked();
  publish_locked();
  if (pipe.mux.queued() > 0)
    return false;
  try {
    pipe.fanout.end_stream(stream_id(), pipe.mux.assigned());
  } catch (const std::bad_alloc&) {
    return false; // the next attempt tells those who were not told
  }
  pipe.fanout.close();
  state_->ended = true;
  return true;
}

bool DatastreamEndpoint::ended() const noexcept {
  return state_->ended;
}

PipeLedger DatastreamEndpoint::ledger() const {
  const std::lock_guard lock(state_->tick_mutex);
  const PipeState& pipe = *state_->pipe;
  PipeLedger ledger;
  ledger.stream = stream_id();
  ledger.refused = pipe.mux.refused();
  ledger.in_mux = pipe.mux.queued();
  ledger.assigned = pipe.mux.assigned();
  for (const FrameBatch& batch : state_->drained)
    ledger.in_transit += batch.size();
  ledger.published = state_->published;
  ledger.bitbucketed = state_->bitbucketed;
  ledger.drained_directly = state_->drained_directly;
  ledger.ended = state_->ended;
  ledger.fanout = pipe.fanout.ledger();
  return ledger;
}

void DatastreamEndpoint::set_waker(std::function<void()> waker) {
  state_->pipe->mux.set_waker(std::move(waker));
}

bool DatastreamEndpoint::try_idle() noexcept {
  const std::lock_guard lock(state_->tick_mutex);
  PipeState& pipe = *state_->pipe;
  if (!pipe.mux.try_idle())
    return false;
  if (!state_->news_due())
    return true;
  pipe.mux.stay_awake(); // there is news since; its wake-up may have found us busy
  return false;
}

} // namespace datastream
