/// Specification 9.1, invariant 2: a channel id means something only together with its stream, and
/// naming it takes a channel descriptor.

#include <datastream/pipe/endpoint.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace datastream;

namespace {

std::vector<std::string> names_in(DatastreamSubscription& reader) {
  std::vector<std::string> names;
  while (auto delivery = reader.try_recv())
    delivery->each([&](const FrameView& frame) { names.emplace_back(frame.name); });
  return names;
}

} // namespace

TEST_CASE("invariant_02_stream_local_numeric_channel_ids") {
  const StreamId first_life{"node", {1}};
  const StreamId second_life{"node", {2}};
  DatastreamEndpoint first(first_life);
  DatastreamEndpoint second(second_life);
  const ChannelId cpu = first.register_channel("host.cpu", Bytes{});
  const ChannelId net = second.register_channel("host.net", Bytes{});
  REQUIRE(cpu == net); // the same number
  first.register_channel("host.net", Bytes{});
  CHECK(first.producer().find_channel("host.net") != second.producer().find_channel("host.net"));

  // A collector that receives both streams.
  DeliveryFanout collector;
  auto reader = collector.subscribe("reader");
  const auto forward = [&](DatastreamEndpoint& endpoint) {
    REQUIRE(endpoint.producer().submit_bytes(ChannelId{1}, "x"));
    std::vector<FrameBatch> batches;
    endpoint.drain_directly(batches);
    collector.publish(batches);
  };

  SUBCASE("without descriptors frames are delivered whole and without a name") {
    forward(first);
    forward(second);
    CHECK(names_in(reader) == std::vector<std::string>{"", ""});
  }

  SUBCASE("a descriptor names the channel of its own stream only") {
    collector.catalog()->declare_all(first.catalog()->snapshot().snapshot);
    forward(first);
    forward(second);
    CHECK(names_in(reader) == std::vector<std::string>{"host.cpu", ""});
    collector.catalog()->declare_all(second.catalog()->snapshot().snapshot);
    forward(first);
    forward(second);
    CHECK(names_in(reader) == std::vector<std::string>{"host.cpu", "host.net"});
  }

  SUBCASE("events carry the stream beside the number") {
    forward(first);
    forward(second);
    std::vector<ChannelRef> channels;
    while (auto delivery = reader.try_recv())
      delivery->each_event([&](const DatastreamEvent& event) {
        if (const auto* frame = std::get_if<FrameDelivery>(&event))
          channels.push_back(frame->channel);
      });
    CHECK(channels == std::vector<ChannelRef>{{first_life, cpu}, {second_life, net}});
  }
}
