// Reads the stream of `publish.cpp` from another process, which may be started later.
#include <datastream/actors.hpp>

#include <caf/io/middleman.hpp>

#include <cstdint>
#include <iostream>

namespace ds = datastream;

struct Config : caf::actor_system_config {
  std::uint16_t port = 0;

  Config() {
    ds::recommended_settings(*this);
    opt_group{custom_options_, "global"}.add(port, "port", "where the other process listens");
  }
};

caf::behavior printer(caf::event_based_actor* self, std::uint16_t port) {
  const auto print = [self](const ds::EventBatch& batch) {
    batch.each([](const ds::FrameView& frame) {
      std::cout << frame.name << " #" << frame.position << ' ' << frame.payload << '\n';
    });
    if (batch.ended)
      self->quit(); // this life is over; without this line the next one would be looked for
  };
  const auto begin = [](const ds::SubscriptionStart& start) {
    for (const ds::StreamStart& stream : start.starts)
      std::cout << stream.stream.node << " from #" << stream.from << '\n';
  };
  ds::Subscriber in{self};
  in.subscribe(ds::RemoteEndpoint{.host = "127.0.0.1", .port = port, .name = "demo"},
               {.on_batch = print, .on_start = begin});
  return in.handlers();
}

void caf_main(caf::actor_system& system, const Config& config) {
  system.spawn(printer, config.port);
}

CAF_MAIN(caf::id_block::datastream, caf::io::middleman)
