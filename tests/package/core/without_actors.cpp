/// A pipe without actors: says one thing and prints what it reads.

#include <datastream/pipe/endpoint.hpp>

#include <iostream>

int main() {
  datastream::DatastreamEndpoint node(datastream::StreamId{"demo", {1}});
  const auto log = node.register_channel("demo.log", datastream::TextStream{});
  auto reader = node.subscribe("reader");
  node.producer().submit_text(log, "hello");
  node.tick();
  while (auto batch = reader.try_recv())
    batch->each([](const datastream::FrameView& frame) {
      std::cout << frame.name << " #" << frame.position << ' ' << frame.payload << '\n';
    });
}
