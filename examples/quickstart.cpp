// A whole program: an actor that works and says what it does, an actor that reads it, and a thread
// that reads it as well.
#include <datastream/actors.hpp>
#include <datastream/record.hpp>

#include <iostream>
#include <thread>

namespace ds = datastream;

struct Load { // a record of the user's own
  static constexpr auto CHANNEL = "worker.load";
  std::uint32_t queue = 0;
  double busy = 0;
};
DATASTREAM_RECORD(Load, queue, busy)

caf::behavior worker(caf::event_based_actor*, ds::DatastreamProducer out) {
  auto log = out.register_channel("worker.log", ds::TextStream{});
  auto load = out.register_record<Load>();
  return {[=](std::uint32_t n) {
    out.submit_text(log, "job " + std::to_string(n)); // false: dropped and counted, never blocks
    out.submit_record(load, Load{n, 0.5});
  }};
}

caf::behavior listener(caf::event_based_actor* self, ds::EndpointRef node, caf::actor work) {
  auto print = [](const ds::EventBatch& batch) { // acknowledged when this returns
    batch.each([](const ds::FrameView& f) {
      std::cout << f.name << " #" << f.position << ' ' << f.payload << '\n';
    });
  };
  auto begin = [=](const ds::SubscriptionStart&) { // whatever is said from here on arrives
    for (std::uint32_t i = 0; i < 3; ++i)
      caf::anon_send(work, i);
    caf::anon_send_exit(work, caf::exit_reason::user_shutdown); // queued behind the three jobs
  };
  ds::Subscriber in{self}; // one per actor, any number of streams
  in.subscribe(node, {.on_batch = print, .on_start = begin});
  return in.handlers([](float) { /* the actor's own messages */ });
}

void caf_main(caf::actor_system& sys, const caf::actor_system_config&) {
  ds::Endpoint node{sys, {.node = "demo"}};
  std::jthread tail([sub = node.subscribe("tail")]() mutable { // a plain thread, no actor
    while (auto batch = sub.recv())
      batch->each([](const ds::FrameView& f) { std::clog << f.position << '\n'; });
  });
  auto w = sys.spawn(worker, node.producer());
  auto l = sys.spawn(listener, node.ref(), w);
  caf::scoped_actor self{sys};
  self->wait_for(w);
  node.close(); // drain, StreamEnded, wait for readers, stop
  caf::anon_send_exit(l, caf::exit_reason::user_shutdown);
}
CAF_MAIN(caf::id_block::datastream)
