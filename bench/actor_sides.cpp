#include "actor_sides.hpp"

#include "harness/require.hpp"
#include "mux_sides.hpp"
#include "reference/caf/fanout.hpp"

#include <datastream/actors/endpoint.hpp>
#include <datastream/actors/remote.hpp>
#include <datastream/actors/subscriber.hpp>
#include <datastream/caf/load.hpp>
#include <datastream/caf/settings.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/io/middleman.hpp>

#include <latch>
#include <optional>

namespace bench {
namespace {

std::size_t workers(Placement placement) {
  return placement == Placement::one_cpu ? 1 : 2;
}

class CafFanout final : public ActorFanout {
public:
  CafFanout(Where where, Placement placement, const std::vector<FrameReader>& readers)
      : fanout_(where == Where::same_system
                    ? reference::caf_messages::make_local_fanout(workers(placement), readers)
                    : reference::caf_messages::make_remote_fanout(workers(placement), readers)) {}

  // CAF has no bound of its own. With fewer it was slower, with more it was not faster.
  std::size_t in_flight_max() const override { return mux_frames; }

  bool submit(std::string_view payload) override {
    fanout_->publish(1, payload);
    return true;
  }

  std::uint64_t lost() const override { return 0; } // mailboxes have no bound

  void require_ledger(std::uint64_t, std::uint64_t refused) const override {
    require(refused == 0, "a mailbox refuses nothing");
  }

private:
  std::unique_ptr<reference::caf_messages::Fanout> fanout_;
};

struct Config : caf::actor_system_config {
  Config(Where where, Placement placement) {
    datastream::compat::load<caf::id_block::datastream>(*this);
    if (where == Where::other_node)
      datastream::compat::load<caf::io::middleman>(*this);
    datastream::compat::set(*this, "scheduler.max-threads", workers(placement));
  }
};

struct System {
  System(Where where, Placement placement) : config(where, placement), system(config) {}
  Config config;
  caf::actor_system system;
};

caf::behavior subscriber(caf::event_based_actor* self, const datastream::EndpointRef& endpoint,
                         const FrameReader& reader, std::latch* subscribed) {
  datastream::Subscriber in{self};
  in.subscribe(
      endpoint,
      {.on_batch =
           [reader](const datastream::EventBatch& batch) {
             for (const datastream::FrameView& frame : batch.frames)
               reader(frame.channel.value, frame.position.value, frame.payload);
           },
       .on_start =
           [subscribed](const datastream::SubscriptionStart&) { subscribed->count_down(); }},
      // Acknowledgements may be far behind what was read.
      {.capacity = {datastream::defaults::subscriber_actor_frames_max,
                    datastream::defaults::subscriber_actor_bytes_max}});
  return in.handlers();
}

class OurFanout final : public ActorFanout {
public:
  OurFanout(Where where, Placement placement, const std::vector<FrameReader>& readers)
      : near_(where, placement), endpoint_(near_.system, {.node = "bench"}),
        producer_(endpoint_.producer()),
        channel_(producer_.register_channel("payloads", datastream::Bytes{})) {
    datastream::EndpointRef endpoint = endpoint_.ref();
    if (where == Where::other_node) {
      far_.emplace(where, placement);
      const auto port = datastream::publish(near_.system, endpoint, 0);
      require(port.has_value(), "an endpoint can be published");
      const auto remote = datastream::connect(far_->system, "127.0.0.1", *port);
      require(remote.has_value(), "a published endpoint can be reached");
      endpoint = *remote;
    }
    caf::actor_system& system = far_ ? far_->system : near_.system;
    std::latch subscribed{static_cast<std::ptrdiff_t>(readers.size())};
    for (const FrameReader& reader : readers)
      subscribers_.push_back(system.spawn(subscriber, endpoint, reader, &subscribed));
    subscribed.wait();
  }

  ~OurFanout() override {
    require(endpoint_.close(), "every delivery is acknowledged");
    for (const caf::actor& actor : subscribers_)
      caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  }

  // As for the reference. A reader counts a frame before its acknowledgement is back, so this must
  // stay well below what a subscriber may leave unacknowledged.
  std::size_t in_flight_max() const override { return mux_frames; }

  bool submit(std::string_view payload) override {
    return producer_.submit_bytes(channel_, payload);
  }

  std::uint64_t lost() const override {
    std::uint64_t frames = 0;
    for (const auto& subscriber : endpoint_.ledger().fanout.subscribers)
      frames += subscriber.counts.dropped;
    return frames;
  }

  void require_ledger(std::uint64_t accepted, std::uint64_t refused) const override {
    const auto ledger = endpoint_.ledger();
    require(ledger.balanced(), "the ledger balances");
    require(ledger.published == accepted && ledger.refused.total() == refused,
            "every submission is in the ledger");
    for (const auto& each : ledger.fanout.subscribers)
      require(each.counts.dropped == 0, "a subscriber with room loses nothing");
  }

private:
  System near_;
  std::optional<System> far_;
  datastream::Endpoint endpoint_;
  datastream::DatastreamProducer producer_;
  datastream::ChannelId channel_;
  std::vector<caf::actor> subscribers_;
};

} // namespace

std::unique_ptr<ActorFanout> our_actor_fanout(Where where, Placement placement,
                                              const std::vector<FrameReader>& readers) {
  return std::make_unique<OurFanout>(where, placement, readers);
}

std::unique_ptr<ActorFanout> caf_actor_fanout(Where where, Placement placement,
                                              const std::vector<FrameReader>& readers) {
  return std::make_unique<CafFanout>(where, placement, readers);
}

} // namespace bench
