#include "feed.hpp"

#include <datastream/actors/type_ids.hpp>
#include <datastream/caf/render.hpp>
#include <datastream/caf/request.hpp>
#include <datastream/log_sink.hpp>

#include <chrono>
#include <utility>

namespace datastream {

Feed::Feed(caf::event_based_actor* self, caf::actor into, AdmissionOptions options,
           std::function<void()> on_idle)
    : self_(self), into_(std::move(into)), admission_(options), on_idle_(std::move(on_idle)) {}

void Feed::declare(const DatastreamSnapshot& catalog) {
  SubscriptionStart start;
  start.snapshot = catalog;
  compat::request_to_the_end(
      self_, into_, [](const EndpointTick&) {}, [](const caf::error&) { /* it is gone */ },
      publish_atom_v, std::move(start));
}

void Feed::offer(const PeerName& peer, const FrameBatch& batch) {
  EventBatch delivery;
  delivery.frames = admission_.admit(peer, batch, std::chrono::steady_clock::now());
  const std::size_t count = delivery.frames.size();
  if (count == 0)
    return;
  ledger_.in_transit += count;
  ++requests_;
  compat::request_to_the_end(
      self_, into_, [this, count](const EndpointTick&) { answered(count, ledger_.delivered); },
      [this, count](const caf::error& error) {
        if (!std::exchange(error_logged_, true))
          log_message(LogSeverity::error, "frames of legacy peers are not taken over: " +
                                              compat::render(self_->system(), error));
        answered(count, ledger_.undelivered);
      },
      publish_atom_v, std::move(delivery));
}

void Feed::answered(std::size_t frames, std::uint64_t& count) {
  ledger_.in_transit -= frames;
  count += frames;
  if (--requests_ == 0)
    on_idle_();
}

SinkLedger Feed::ledger() const {
  SinkLedger ledger = ledger_;
  ledger.admission = admission_.ledger();
  return ledger;
}

} // namespace datastream
