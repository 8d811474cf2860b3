// The second process of tests of actors. It is told what to do on its standard input, says on its
// standard output what happened, and ends when its input does.
//
//     actor_peer publish [PORT [NAME]]  says: port N
//       register NAME, submit N         says: submitted
//       end, close                      says: ended; closed 0 or 1
//     actor_peer subscribe PORT CAP     says: started; ended FRAMES DROPPED GAPS ASSIGNED; down
//     actor_peer follow PORT [NAME]     the same, and looks for the stream until it finds it
//     actor_peer forge                  says: port N; acknowledged SEQUENCE
//
// Before any of these: `quick`, for a middleman that notices soon when others are silent.
#include "forged_event.hpp"
#include "quick_heartbeats.hpp"

#include <datastream/actors/endpoint.hpp>
#include <datastream/actors/publisher_actor.hpp>
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
#include <optional>
#include <string>
#include <thread>
#include <vector>

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

std::uint16_t publish_or_exit(caf::actor_system& system, const caf::actor& actor,
                              std::uint16_t port) {
  const auto bound = publish(system, actor, port);
  if (!bound)
    std::exit(1);
  say("port " + std::to_string(*bound));
  return *bound;
}

void run_publisher(caf::actor_system& system, std::uint16_t port, const std::string& name) {
  Endpoint node{system, {.node = "peer"}};
  std::optional<Publisher> publisher;
  if (!name.empty()) {
    publisher.emplace(system);
    if (!publisher->offer(name, node.ref()))
      std::exit(1);
  }
  const auto out = node.producer();
  ChannelId channel = out.register_channel("peer.log", TextStream{});
  publish_or_exit(system, publisher ? publisher->actor() : node.ref().actor(), port);
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

/// What a subscriber says.
SubscriptionHandlers telling() {
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
  return handlers;
}

/// Reads until its input ends.
template <class Where>
void read(caf::actor_system& system, const Where& where, const Subscribe& request) {
  const auto reader = system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    Subscriber in{self};
    in.subscribe(where, telling(), request);
    return in.handlers();
  });
  std::string word;
  while (std::cin >> word) {
  }
  caf::anon_send_exit(reader, caf::exit_reason::user_shutdown);
}

void run_subscriber(caf::actor_system& system, std::uint16_t port, std::size_t capacity) {
  const auto node = connect(system, "127.0.0.1", port);
  if (!node)
    std::exit(1);
  read(system, *node, {.name = "peer", .capacity = {capacity, std::size_t{1} << 26U}});
}

void run_follower(caf::actor_system& system, std::uint16_t port, const std::string& name) {
  using namespace std::chrono_literals;
  const RemoteEndpoint node{
      .host = "127.0.0.1", .port = port, .name = name, .retry_first = 10ms, .retry_most = 50ms};
  read(system, node, {.name = "peer"});
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
  publish_or_exit(system, actor, 0);
  std::string word;
  while (std::cin >> word) {
  }
  system.middleman().unpublish(actor);
  caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
}

} // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool quick = !words.empty() && words.front() == "quick";
  if (quick)
    words.erase(words.begin());
  words.resize(4);
  const auto number = [&](std::size_t index) {
    return words[index].empty() ? std::size_t{0} : std::stoul(words[index]);
  };
  const std::string& role = words[0];
  Config config{role == "forge"};
  if (quick)
    test::quick_heartbeats(config);
  const auto port = static_cast<std::uint16_t>(number(1));
  caf::actor_system system{config};
  if (role == "publish")
    run_publisher(system, port, words[2]);
  else if (role == "subscribe")
    run_subscriber(system, port, number(2));
  else if (role == "follow")
    run_follower(system, port, words[2]);
  else if (role == "forge")
    run_forger(system);
  else
    return 2;
}
