// A program that tells what its actors do.
#include <datastream/actors.hpp>
#include <datastream/caf/send.hpp>
#include <datastream/hooks/producer_stats_hook.hpp>
#include <datastream/hooks_caf/actor_observer.hpp>
#include <datastream/hooks_caf/spawn_observed.hpp>
#include <datastream/views/actor_table.hpp>

#include <caf/stateful_actor.hpp>

#include <iostream>
#include <memory>

namespace ds = datastream;

struct Config : caf::actor_system_config {
  ds::ActorObserver observer;
  Config() { observer.install(*this); } // CAF 1.x: this observes every actor
};

struct CounterState {
  static inline const char* name = "counter"; // what it is called in reports
};
caf::behavior counter(caf::stateful_actor<CounterState>*) {
  return {[](int) {}};
}

void caf_main(caf::actor_system& system, const Config& config) {
  ds::Endpoint node{system, {.node = "demo"}};
  auto in = node.subscribe("dashboard");
  config.observer.report_to(std::make_shared<ds::ProducerStatsHook>(node.producer()));
  const caf::actor actor = ds::spawn_observed(system, counter); // CAF 0.17.6: and this one
  for (int i = 0; i < 1000; ++i)
    ds::compat::anon_send(actor, i);

  ds::ActorTable table;
  bool all = false;
  while (!all) {
    const auto batch = in.recv();
    if (!batch)
      return;
    batch->each([&](const ds::FrameView& frame) {
      if (frame.name == ds::ActorsRecord::CHANNEL)
        table.accept(frame);
    });
    for (const auto& [address, state] : table.actors())
      all |= state.last.messages_processed == 1000;
  }
  for (const auto& [address, state] : table.actors())
    std::cout << state.last.name << " has handled " << state.last.messages_processed << '\n';
  caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  config.observer.report_to(nullptr);
}

CAF_MAIN(caf::id_block::datastream)
