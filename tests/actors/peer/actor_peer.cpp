// The second process of tests of actors. It is told what to do on its standard input, says on its
// standard output what happened, and ends when its input does.
//
//     actor_peer publish [PORT]       says: port N
//       register NAME, submit N       says: submitted
//       end, close                    says: ended; closed 0 or 1
//     actor_peer subscribe PORT CAP   says: started; ended FRAMES DROPPED GAPS ASSIGNED; down
//     actor_peer forge                says: port N; acknowledged SEQUENCE
#include "forged_event.hpp"

#include <datastream/actors/endpoint.hpp>
#include <datastream/actors/remote.hpp>
#include <datastream/actors/settings.hpp>
#include <datastream/actors/subscriber.hpp>
#include <datastream/actors/type_ids.hpp>
#include <datastream/caf/load.hpp>
#include <datastream/caf/send.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/io/middleman.hpp>
#include <caf/send.hpp>

#include <iostream>
#include <string>
#include <thread>

using namespace datastream;

namespace {

struct Config : caf::actor_system_config {
  explicit Config(bool forges) {
    if (forges)
      announce_forged_events(*this);
    compat::load<caf::io::middleman, caf::id_block::datastream>(*this);
    recommended_settings(*this);
  }
};

void say(const std::string& line) {
  std::cout << line + "\n" << std::flush;
}

std::uint16_t publish_or_exit(caf::actor_system& system, const EndpointRef& node,
                              std::uint16_t port) {
  const auto bound = publish(system, node, port);
  if (!bound)
    std::exit(1);
  say("port " + std::to_string(*bound));
  return *bound;
}

void run_publisher(caf::actor_system& system, std::uint16_t port) {
  Endpoint node{system, {.node = "peer"}};
  publish_or_exit(system, node.ref(), port);
  const auto out = node.producer();
  ChannelId channel = out.register_channel("peer.log", TextStream{});
  std::string word;
  while (std::cin >> word) {
    if (word == "submit") {
      std::uint64_t count = 0;
      std::cin >> count;
      for (std::uint64_t i = 0; i < count; ++i)
        while (!out.submit_text(channel, "line " + std::to_string(i)))
          std::this_thread::yield();
      say("submitted");
    } else if (word == "register") {
      std::cin >> word;
      channel = out.register_channel(word, TextStream{});
    } else if (word == "end") {
      node.end_stream();
      say("ended");
    } else if (word == "close") {
      say("closed " + std::to_string(node.close()));
    }
  }
}

void run_subscriber(caf::actor_system& system, std::uint16_t port, std::size_t capacity) {
  const auto node = connect(system, "127.0.0.1", port);
  if (!node)
    std::exit(1);
  auto reader = system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    Subscriber in{self};
    SubscriptionHandlers handlers;
    handlers.on_start = [](const SubscriptionStart&) { say("started"); };
    handlers.on_down = [](const caf::error&) { say("down"); };
    handlers.on_batch = [frames = std::uint64_t{0}, gaps = std::uint64_t{0},
                         next = std::uint64_t{0}](const EventBatch& batch) mutable {
      for (const FrameView& frame : batch.frames) {
        gaps += frame.position.value - next;
        next = frame.position.value + 1;
        ++frames;
      }
      if (batch.ended)
        say("ended " + std::to_string(frames) + " " + std::to_string(batch.dropped) + " " +
            std::to_string(gaps + batch.ended->assigned - next) + " " +
            std::to_string(batch.ended->assigned));
    };
    in.subscribe(*node, std::move(handlers),
                 {.name = "peer", .capacity = {capacity, std::size_t{1} << 26U}});
    return in.handlers();
  });
  std::string word;
  while (std::cin >> word) {
  }
  caf::anon_send_exit(reader, caf::exit_reason::user_shutdown);
}

/// Serves subscribers a batch with headers beyond its block, then one that is as it should be.
caf::behavior impostor(caf::event_based_actor* self) {
  return {
      [self](subscribe_atom, const Subscribe& request, const caf::actor& reader) {
        auto promise = self->make_response_promise<SubscriptionStart>();
        promise.deliver(SubscriptionStart{SubscriptionId{1}, {}, {}});
        const StreamId stream{NodeId{"forger"}, Lifetime{1}};
        const FrameHeader beyond[] = {{Position{0}, ChannelId{1}, 0, 4, 0},
                                      {Position{1}, ChannelId{1}, 4, 1'000'000, 0}};
        wire::Event forged;
        forged.subscription = SubscriptionId{1};
        forged.sequence = 1;
        forged.frames = {stream, std::string(reinterpret_cast<const char*>(beyond), sizeof beyond),
                         "abcd"};
        compat::send(self, reader, forged_delivery(request.token, forged));
        const FrameView frame{ChannelId{1}, Position{2}, "fine", {}};
        EventBatch good;
        good.subscription = SubscriptionId{1};
        good.sequence = 2;
        good.frames = FrameBatch::copy_of(stream, std::span(&frame, 1));
        compat::send(self, reader, forged_delivery(request.token, wire::pack_event(good)));
        return promise;
      },
      [](acknowledge_atom, SubscriptionId, std::uint64_t sequence) {
        say("acknowledged " + std::to_string(sequence));
      },
  };
}

void run_forger(caf::actor_system& system) {
  const auto actor = system.spawn(impostor);
  publish_or_exit(system, EndpointRef(actor), 0);
  std::string word;
  while (std::cin >> word) {
  }
  system.middleman().unpublish(actor);
  caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
}

} // namespace

int main(int argc, char** argv) {
  const std::string role = argc > 1 ? argv[1] : "";
  const auto number = [&](int index) {
    return argc > index ? std::stoul(argv[index]) : std::size_t{0};
  };
  Config config{role == "forge"};
  caf::actor_system system{config};
  if (role == "publish")
    run_publisher(system, static_cast<std::uint16_t>(number(2)));
  else if (role == "subscribe")
    run_subscriber(system, static_cast<std::uint16_t>(number(2)), number(3));
  else if (role == "forge")
    run_forger(system);
  else
    return 2;
}
