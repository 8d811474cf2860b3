/// Channels, nearly all of them idle.

#include "growth/growth.hpp"
#include "harness/clock.hpp"
#include "harness/payloads.hpp"
#include "harness/process.hpp"
#include "harness/require.hpp"
#include "mux_sides.hpp"

#include <datastream/pipe/endpoint.hpp>

#include <fmt/format.h>

#include <string>
#include <vector>

namespace bench {
namespace {

using datastream::Bytes;
using datastream::ChannelId;
using datastream::DatastreamEndpoint;

constexpr std::size_t busy_channels = 10;

std::string channel_name(std::size_t number) {
  return fmt::format("part.{}.values", number);
}

/// An endpoint with channels 1 to `channels`.
struct Registered {
  explicit Registered(std::size_t channels) {
    for (std::size_t number = 1; number <= channels; ++number)
      require(endpoint.register_channel(channel_name(number), Bytes{}).value == number,
              "channels count from 1");
  }
  DatastreamEndpoint endpoint{datastream::StreamId{"bench", {1}}};
};

double registering(std::size_t channels) {
  std::vector<std::string> names;
  for (std::size_t number = 1; number <= channels; ++number)
    names.push_back(channel_name(number));
  DatastreamEndpoint endpoint{datastream::StreamId{"bench", {1}}};
  const Stopwatch watch{Clock::thread_cpu};
  for (std::string& name : names)
    endpoint.register_channel(std::move(name), Bytes{});
  const double cost = watch.elapsed_ns() / static_cast<double>(channels);
  require(endpoint.catalog()->version() == channels + 1, "every channel is declared");
  return cost;
}

double memory(std::size_t channels) {
  const std::size_t before = heap_bytes();
  const Registered registered{channels};
  return static_cast<double>(heap_bytes() - before) / static_cast<double>(channels);
}

/// Who comes after them is told of them in its snapshot.
double subscribing(std::size_t channels) {
  Registered registered{channels};
  const Stopwatch watch{Clock::thread_cpu};
  const auto subscription = registered.endpoint.subscribe("late");
  const double cost = watch.elapsed_ns() / static_cast<double>(channels);
  require(subscription.snapshot().channels.size() == channels, "the snapshot has every channel");
  return cost;
}

/// Who was there before is told of them with the next delivery.
double telling(std::size_t channels) {
  DatastreamEndpoint endpoint{datastream::StreamId{"bench", {1}}};
  auto subscription = endpoint.subscribe("early");
  for (std::size_t number = 1; number <= channels; ++number)
    endpoint.register_channel(channel_name(number), Bytes{});
  const Stopwatch watch{Clock::thread_cpu};
  endpoint.tick();
  const auto told = subscription.try_recv();
  const double cost = watch.elapsed_ns() / static_cast<double>(channels);
  require(told && told->declarations.size() == channels, "every channel is told of");
  return cost;
}

/// Frames on few of them, through submit and tick to a reader that sees their names.
double ticking(std::size_t channels) {
  Registered registered{channels};
  DatastreamEndpoint& endpoint = registered.endpoint;
  const auto producer = endpoint.producer();
  auto subscription = endpoint.subscribe("reader");
  const PayloadSet payloads{120};
  constexpr std::size_t frames = 20 * frames_a_tick;
  std::vector<ChannelId> busy;
  for (std::size_t i = 1; i <= busy_channels; ++i)
    busy.push_back({static_cast<std::uint32_t>(i * channels / busy_channels)});

  Tally tally;
  std::size_t named = 0;
  const Stopwatch watch{Clock::thread_cpu};
  for (std::size_t done = 0; done < frames;) {
    for (const std::size_t end = done + frames_a_tick; done < end; ++done)
      require(producer.submit_bytes(busy[done % busy_channels], payloads[done]),
              "a mux with room accepts");
    endpoint.tick();
    while (const auto batch = subscription.try_recv())
      batch->each([&](const datastream::FrameView& frame) {
        tally(frame.channel.value, frame.position.value, frame.payload);
        named += frame.name.empty() ? 0 : 1;
      });
  }
  const double cost = watch.elapsed_ns() / frames;
  require(tally == expected_tally(payloads, frames), "every frame arrives whole");
  require(named == frames, "every frame has its channel's name");
  require(endpoint.ledger().balanced(), "the ledger balances");
  return cost;
}

} // namespace

std::vector<Growth> channel_growth() {
  constexpr std::size_t largest = 100'000;
  return {{"channels", "register", "ns each", largest, registering},
          {"channels", "subscribe after them", "ns each", largest, subscribing},
          {"channels", "announce to a reader", "ns each", largest, telling},
          {"channels", "submit, tick, receive", "ns a frame", largest, ticking},
          {"channels", "in an endpoint", "bytes each", largest, memory}};
}

} // namespace bench
