/// Ingest, and the views over what was stored.

#include "harness/payloads.hpp"
#include "harness/require.hpp"

#include <benchmark/benchmark.h>

#include <datastream/ingest/stored_stream.hpp>
#include <datastream/views/grep.hpp>
#include <datastream/views/merged_log.hpp>

#include <cstddef>
#include <cstdint>
#include <ranges>

namespace {

using namespace bench;

constexpr std::size_t stored_frames = 100'000;

datastream::StoredStream filled(const PayloadSet& payloads) {
  datastream::StoredStream stream{{"bench", {1}}};
  for (std::uint64_t position = 0; position < stored_frames; ++position)
    stream.accept({{1}, {position}, payloads[position], {}});
  return stream;
}

/// Arguments: payload bytes, frames kept by retention.
void ingest_with_retention(benchmark::State& state) {
  const PayloadSet payloads{static_cast<std::size_t>(state.range(0))};
  datastream::StoredStream stream{{"bench", {1}},
                                  {.frames = static_cast<std::size_t>(state.range(1))}};
  std::uint64_t position = 0;
  for (auto _ : state) {
    stream.accept({{1}, {position}, payloads[position], {}});
    ++position;
  }
  require(stream.ledger().balanced() && stream.ledger().stored == position, "the ledger balances");
  state.SetItemsProcessed(static_cast<std::int64_t>(position));
}
BENCHMARK(ingest_with_retention)
    ->ArgNames({"bytes", "kept"})
    ->ArgsProduct({{64, 120, 1024}, {1'000, 100'000}});

void merged_log(benchmark::State& state) {
  const PayloadSet payloads{120};
  const auto stream = filled(payloads);
  for (auto _ : state)
    benchmark::DoNotOptimize(std::ranges::distance(datastream::merged_log(stream)));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(stored_frames));
}
BENCHMARK(merged_log);

/// A text that no frame contains: every byte is looked at.
void grep(benchmark::State& state) {
  const PayloadSet payloads{static_cast<std::size_t>(state.range(0))};
  const auto stream = filled(payloads);
  for (auto _ : state)
    require(std::ranges::distance(datastream::grep(stream, "no such text")) == 0, "none is found");
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(stored_frames * payloads.size()));
}
BENCHMARK(grep)->ArgName("bytes")->Arg(120)->Arg(1024);

} // namespace
