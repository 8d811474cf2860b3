// A record of one's own: a struct that travels as JSON, and comes back as a series.
#include <datastream/ingest/consumer.hpp>
#include <datastream/pipe/endpoint.hpp>
#include <datastream/record.hpp>
#include <datastream/views/metric_series.hpp>

#include <iostream>

namespace ds = datastream;

struct Load {
  static constexpr auto CHANNEL = "worker.load"; // its channel's name
  std::uint32_t queue = 0;                       // what is missing in the JSON stays as it is here
  double busy = 0;
};
DATASTREAM_RECORD(Load, queue, busy)

int main() {
  ds::DatastreamEndpoint node(ds::StreamId{"demo", ds::fresh_life()}); // no actors here
  const ds::DatastreamProducer out = node.producer();
  ds::DatastreamSubscription in = node.subscribe("reader");
  const ds::ChannelId load = out.register_record<Load>();
  for (std::uint32_t i = 0; i < 3; ++i)
    out.submit_record(load, Load{i, 0.25 * i}); // false: refused and counted, never blocks
  out.submit_bytes(load, "no record");
  node.tick();

  ds::Consumer consumer;
  while (const auto batch = in.try_recv())
    consumer.accept(*batch);
  const ds::StoredStream& stream = *consumer.store().find(node.stream_id());
  for (const auto& [position, record] : ds::metric_series_on<Load>(stream, load))
    std::cout << '#' << position << " queue " << record.queue << ", busy " << record.busy << '\n';
}
