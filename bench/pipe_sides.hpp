#pragma once
/// The whole pipes that are compared, from a submission to the subscribers' hands, behind one
/// interface. All frames go through channel 1.

#include "harness/require.hpp"
#include "mux_sides.hpp"
#include "reference/bytes.hpp"
#include "reference/simple/fanout.hpp"

#include <datastream/defaults.hpp>
#include <datastream/pipe/endpoint.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

namespace bench {

inline constexpr std::size_t subscriber_frames = datastream::defaults::subscription_frames;

class OurPipe {
public:
  explicit OurPipe(std::size_t subscribers) {
    for (std::size_t i = 0; i < subscribers; ++i)
      subscriptions_.push_back(endpoint_.subscribe("reader"));
  }

  bool submit(std::string_view payload) noexcept {
    return producer_.submit_bytes(channel_, payload);
  }
  /// Returns the frames drained.
  std::size_t tick() { return endpoint_.tick().drained; }

  /// Reads all that is there for one subscriber.
  template <class Reader>
  void try_recv_all(std::size_t subscriber, Reader& reader) {
    while (const auto batch = subscriptions_[subscriber].try_recv())
      read(*batch, reader);
  }
  /// Waits, and reads what came; false once nothing will come any more.
  template <class Reader>
  bool recv(std::size_t subscriber, Reader& reader) {
    const auto batch = subscriptions_[subscriber].recv();
    if (batch)
      read(*batch, reader);
    return batch.has_value();
  }
  void end() { endpoint_.end_stream(); }

  /// Call after `end`. Copies that the subscribers lost, of `submitted` frames, `refused` of which
  /// the mux did not take.
  std::uint64_t require_ledger(std::uint64_t submitted, std::uint64_t refused) const {
    const auto ledger = endpoint_.ledger();
    require(ledger.balanced(), "the ledger balances");
    require(ledger.submitted() == submitted, "every submission is in the ledger");
    require(ledger.refused.total() == refused, "every refusal is counted");
    std::uint64_t dropped = 0;
    for (const auto& subscriber : ledger.fanout.subscribers) {
      require(subscriber.counts.outstanding == 0, "everything delivered was taken");
      dropped += subscriber.counts.dropped;
    }
    return dropped;
  }

private:
  template <class Reader>
  static void read(const datastream::EventBatch& batch, Reader& reader) {
    for (const datastream::FrameView& frame : batch.frames)
      reader(frame.channel.value, frame.position.value, frame.payload);
  }

  datastream::DatastreamEndpoint endpoint_{datastream::StreamId{"bench", {1}}};
  datastream::DatastreamProducer producer_ = endpoint_.producer();
  datastream::ChannelId channel_ = endpoint_.register_channel("payloads", datastream::Bytes{});
  std::vector<datastream::DatastreamSubscription> subscriptions_;
};

class SimplePipe {
public:
  explicit SimplePipe(std::size_t subscribers) {
    for (std::size_t i = 0; i < subscribers; ++i)
      subscriptions_.push_back(endpoint_.subscribe(subscriber_frames));
  }

  bool submit(std::string_view payload) {
    return endpoint_.mux().submit(channel_, reference::to_bytes(payload));
  }
  std::size_t tick() { return count(endpoint_.tick()); }

  template <class Reader>
  void try_recv_all(std::size_t subscriber, Reader& reader) {
    while (const auto event = subscriptions_[subscriber]->try_recv())
      read(*event, reader);
  }
  template <class Reader>
  bool recv(std::size_t subscriber, Reader& reader) {
    const auto event = subscriptions_[subscriber]->recv();
    if (event)
      read(*event, reader);
    return event.has_value();
  }
  void end() { count(endpoint_.end_stream()); }

  std::uint64_t require_ledger(std::uint64_t submitted, std::uint64_t refused) {
    require(endpoint_.mux().assigned() + refused == submitted, "every submission is counted");
    require(endpoint_.mux().dropped() == refused, "every refusal is counted");
    require(total_.delivered + total_.dropped == total_.drained * subscriptions_.size(),
            "every copy is counted");
    return total_.dropped;
  }

private:
  template <class Reader>
  static void read(const reference::simple::Event& event, Reader& reader) {
    if (const auto* delivery = std::get_if<reference::simple::FrameDelivery>(&event))
      reader(delivery->frame.channel, delivery->frame.position,
             reference::view(delivery->frame.payload));
  }

  std::size_t count(const reference::simple::Tick& tick) {
    total_.drained += tick.drained;
    total_.delivered += tick.delivered;
    total_.dropped += tick.dropped;
    return tick.drained;
  }

  reference::simple::Endpoint endpoint_{{"bench", 1}, mux_frames};
  std::uint32_t channel_ = endpoint_.register_channel("payloads");
  std::vector<std::shared_ptr<reference::simple::Subscription>> subscriptions_;
  reference::simple::Tick total_;
};

} // namespace bench
