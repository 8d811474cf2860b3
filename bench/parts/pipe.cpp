/// The mux and the fanout.

#include "harness/payloads.hpp"
#include "harness/require.hpp"
#include "mux_sides.hpp"
#include "pipe_sides.hpp"

#include <benchmark/benchmark.h>

#include <datastream/pipe/mux.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace {

using namespace bench;

/// Arguments: payload bytes.
void submit_and_drain(benchmark::State& state) {
  const PayloadSet payloads{static_cast<std::size_t>(state.range(0))};
  OurMux mux;
  auto producer = mux.producer();
  Tally tally;
  for (auto _ : state) {
    for (std::size_t i = 0; i < frames_a_tick; ++i)
      producer.submit(1, payloads[i]);
    mux.drain(tally);
  }
  require(tally.frames == static_cast<std::uint64_t>(state.iterations()) * frames_a_tick,
          "every frame is drained");
  state.SetItemsProcessed(static_cast<std::int64_t>(tally.frames));
}
BENCHMARK(submit_and_drain)->ArgName("bytes")->Arg(16)->Arg(64)->Arg(120)->Arg(1024)->Arg(8192);

/// Arguments: payload bytes, payloads of one call.
void submit_many_and_drain(benchmark::State& state) {
  const PayloadSet payloads{static_cast<std::size_t>(state.range(0))};
  std::vector<std::string_view> call;
  for (std::int64_t i = 0; i < state.range(1); ++i)
    call.push_back(payloads[static_cast<std::uint64_t>(i)]);
  datastream::Mux mux{{"bench", {1}}};
  std::vector<datastream::FrameBatch> batches;
  std::size_t drained = 0;
  for (auto _ : state) {
    for (std::size_t i = 0; i < frames_a_tick; i += call.size())
      mux.submit_many({1}, call);
    batches.clear();
    drained += mux.drain(batches);
  }
  require(mux.refused().total() == 0 && mux.assigned() == drained, "every frame is drained");
  state.SetItemsProcessed(static_cast<std::int64_t>(drained));
}
BENCHMARK(submit_many_and_drain)
    ->ArgNames({"bytes", "payloads"})
    ->ArgsProduct({{64, 120, 1024}, {8, 32, 256}});

/// Arguments: payload bytes, subscribers.
void submit_tick_receive(benchmark::State& state) {
  const PayloadSet payloads{static_cast<std::size_t>(state.range(0))};
  std::vector<Tally> tallies(static_cast<std::size_t>(state.range(1)));
  OurPipe pipe{tallies.size()};
  std::uint64_t submitted = 0;
  for (auto _ : state) {
    for (std::size_t i = 0; i < frames_a_tick; ++i)
      pipe.submit(payloads[i]);
    submitted += frames_a_tick;
    pipe.tick();
    for (std::size_t i = 0; i < tallies.size(); ++i)
      pipe.try_recv_all(i, tallies[i]);
  }
  pipe.end();
  require(pipe.require_ledger(submitted, 0) == 0, "a subscriber with room loses nothing");
  state.SetItemsProcessed(static_cast<std::int64_t>(submitted));
}
BENCHMARK(submit_tick_receive)
    ->ArgNames({"bytes", "subscribers"})
    ->ArgsProduct({{120, 1024}, {0, 1, 4, 16, 64}});

} // namespace
