// Runs a program and shows what it wrote, line by line, and how it ended.
#include <datastream/hooks/process_runner.hpp>
#include <datastream/ingest/consumer.hpp>
#include <datastream/pipe/endpoint.hpp>
#include <datastream/views/lines.hpp>

#include <chrono>
#include <iostream>

namespace ds = datastream;

int main() {
  ds::DatastreamEndpoint node{ds::StreamId{{"demo"}, {1}}}; // no actors are needed for this
  auto in = node.subscribe("reader");
  ds::ProcessRunner runner{node.producer()};
  auto child = runner.start({.argv = {"printf", "one\\ntwo\\r\\nthree"}, .label = "child"});
  if (!child) {
    std::cerr << child.error().message << '\n';
    return 1;
  }
  child->wait(std::chrono::seconds(10));
  node.end_stream();

  ds::Consumer consumer;
  while (const auto batch = in.recv())
    consumer.accept(*batch);
  const ds::StoredStream& stream = *consumer.store().find(node.stream_id());
  const auto channel = consumer.catalog().find_channel(node.stream_id(), "proc.child.stdout");
  for (const ds::LineEntry& entry : ds::lines(stream, channel->id))
    if (const auto* line = std::get_if<ds::Line>(&entry))
      std::cout << line->text << '\n';
  std::cout << "ended with " << child->exit_status()->value << '\n';
}
