// Samples the host that it runs on, and reads the samples back.
#include <datastream/hooks/host_sampler.hpp>
#include <datastream/ingest/consumer.hpp>
#include <datastream/pipe/endpoint.hpp>
#include <datastream/records/host_memory.hpp>
#include <datastream/views/metric_series.hpp>

#include <iostream>

namespace ds = datastream;

int main() {
  ds::DatastreamEndpoint node{ds::StreamId{{"demo"}, {1}}};
  auto in = node.subscribe("reader");
  ds::HostSampler sampler(node.producer(), {.cpu = false, .net = false, .gpu = false});
  for (int i = 0; i < 3; ++i)
    sampler.sample_once(); // or `start()`, which samples once a second by itself
  node.end_stream();

  ds::Consumer consumer;
  while (const auto batch = in.recv())
    consumer.accept(*batch);
  const ds::StoredStream& stream = *consumer.store().find(node.stream_id());
  const auto channel = consumer.catalog().find_channel(node.stream_id(), "host.memory");
  for (const auto& point : ds::metric_series_on<ds::HostMemoryRecord>(stream, channel->id))
    std::cout << "sample " << point.record.seq
              << " knows the memory: " << (point.record.total_bytes.value_or(0) > 0 ? "yes" : "no")
              << '\n';
}
