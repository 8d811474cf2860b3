#include <datastream/actors/consumer_actor.hpp>

#include <datastream/actors/detail/follow.hpp>
#include <datastream/actors/detail/peer_errors.hpp>
#include <datastream/actors/detail/sent_from_here.hpp>

#include <datastream/actors/fanout_actor.hpp>
#include <datastream/caf/render.hpp>
#include <datastream/caf/request.hpp>
#include <datastream/caf/send.hpp>
#include <datastream/caf/thread_logger.hpp>
#include <datastream/log_sink.hpp>

#include <caf/actor_system.hpp>

#include <algorithm>
#include <vector>

namespace datastream {
namespace {

/// Bounds of one page, so that a turn stays short and a message small.
constexpr std::size_t page_frames_max = 4096;
constexpr std::size_t page_bytes_max = defaults::batch_bytes;

} // namespace

ConsumerActor::ConsumerActor(caf::actor_config& config, ConsumerOptions options)
    : caf::event_based_actor(config), options_(std::move(options)), consumer_(options_.retention),
      subscriber_(this) {}

caf::behavior ConsumerActor::make_behavior() {
  return subscriber_.handlers(
      [this](follow_atom, const caf::actor& endpoint) { return follow(endpoint); },
      [this](publish_atom, const EventBatch& batch) {
        consumer_.accept(batch);
        const std::size_t frames = batch.frames.size();
        return archived(batch,
                        EndpointTick{.drained = frames, .delivered = frames, .subscribers = 1});
      },
      [this](publish_atom, const SubscriptionStart& start) {
        consumer_.begin(start);
        return archived(start, EndpointTick{.subscribers = 1});
      },
      [this](streams_atom) {
        const auto ids = consumer_.store().stream_ids();
        return std::vector<StreamId>(ids.begin(), ids.end());
      },
      [this](page_atom, const StreamId& stream, Position from, std::uint32_t at_most) {
        return page(stream, from, at_most);
      },
      [this](snapshot_atom, const SubscriptionRequest& request) {
        return consumer_.catalog().snapshot(request).snapshot;
      },
      [this](ledger_atom, const StreamId& stream) { return ledger(stream); },
      [this](ledger_atom) { return ledger(); },
      [this](forget_atom, const StreamId& stream) { return forget(stream); }, peer_errors(this));
}

caf::result<SubscriptionStart> ConsumerActor::follow(const caf::actor& endpoint) {
  SubscriptionHandlers ingest{
      .on_batch = [this](const EventBatch& batch) { consumer_.accept(batch); },
      .on_start = [this](const SubscriptionStart& start) { consumer_.begin(start); }};
  if (options_.archive)
    ingest = republish(this, options_.archive, std::move(ingest),
                       [this](const caf::error& reason) { archive_down(reason); });
  return datastream::follow(this, subscriber_, endpoint, std::move(ingest), options_.subscribe);
}

template <class Published>
caf::result<EndpointTick> ConsumerActor::archived(const Published& published,
                                                  const EndpointTick& tick) {
  if (!options_.archive)
    return tick;
  auto promise = make_response_promise<EndpointTick>();
  compat::request_to_the_end(
      this, options_.archive,
      [promise, tick](const EndpointTick&) mutable { promise.deliver(tick); },
      [this, promise, tick](const caf::error& reason) mutable {
        archive_down(reason);
        promise.deliver(tick);
      },
      publish_atom_v, published);
  return promise;
}

void ConsumerActor::archive_down(const caf::error& reason) {
  if (!options_.archive)
    return;
  options_.archive = nullptr;
  log_message(LogSeverity::error,
              "a consumer goes on without its archive: " + compat::render(system(), reason));
}

caf::result<FramePage> ConsumerActor::page(const StreamId& stream, Position from,
                                           std::uint32_t at_most) const {
  const StoredStream* stored = consumer_.store().find(stream);
  if (!stored)
    return caf::make_error(ActorError::unknown_stream, to_string(stream));
  FramePage result{.next = from};
  const std::size_t most = std::clamp<std::size_t>(at_most, 1, page_frames_max);
  std::vector<FrameView> frames;
  std::size_t bytes = 0;
  const auto evicted = stored->evicted();
  if (evicted && evicted->end > from) {
    result.evicted = evicted;
    result.next = evicted->end;
  }
  // What is missing before the first frame that was ever stored is no gap.
  bool gap_possible = evicted || (stored->first() && *stored->first() < from);
  for (const FrameView& frame : stored->frames_from(from)) {
    result.more =
        frames.size() == most || (bytes > 0 && bytes + frame.payload.size() > page_bytes_max);
    if (result.more)
      break;
    if (gap_possible && frame.position > result.next)
      result.gaps.push_back({result.next, Position{frame.position.value - 1}});
    gap_possible = true;
    result.next = Position{frame.position.value + 1};
    frames.push_back(frame);
    bytes += frame.payload.size();
  }
  result.frames = FrameBatch::copy_of(stream, frames);
  return result;
}

caf::result<IngestLedger> ConsumerActor::ledger(const StreamId& stream) const {
  const StoredStream* stored = consumer_.store().find(stream);
  if (!stored)
    return caf::make_error(ActorError::unknown_stream, to_string(stream));
  return stored->ledger();
}

ConsumerLedger ConsumerActor::ledger() const {
  ConsumerLedger result{.streams = {},
                        .forgotten = consumer_.store().forgotten(),
                        .malformed_frames = consumer_.malformed_frames(),
                        .conflicting_declarations = consumer_.conflicting_declarations()};
  for (const StoredStream& stream : consumer_.store())
    result.streams.push_back(stream.ledger());
  return result;
}

caf::result<bool> ConsumerActor::forget(const StreamId& stream) {
  if (!sent_from_here(*this))
    return caf::make_error(ActorError::not_local, to_string(stream));
  subscriber_.forget(stream);
  return consumer_.forget(stream);
}

caf::actor spawn_consumer(caf::actor_system& system, ConsumerOptions options) {
  const compat::ThreadLogger thread(system);
  return system.spawn<ConsumerActor>(std::move(options));
}

} // namespace datastream
