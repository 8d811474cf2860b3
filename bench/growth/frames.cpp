/// Frames of one stored stream, of which every hundredth is missing.

#include "growth/growth.hpp"
#include "harness/clock.hpp"
#include "harness/payloads.hpp"
#include "harness/require.hpp"

#include <datastream/ingest/stored_stream.hpp>
#include <datastream/views/merged_log.hpp>

#include <cstdint>
#include <variant>
#include <vector>

namespace bench {
namespace {

using datastream::StoredStream;

constexpr std::uint64_t gap_interval = 100;

const PayloadSet& payloads() {
  static const PayloadSet set{120};
  return set;
}

/// Fills a stream with `frames` frames.
void fill(StoredStream& stream, std::size_t frames) {
  for (std::uint64_t position = 0; stream.size() < frames; ++position)
    if (position % gap_interval != gap_interval / 2)
      stream.accept({{1}, {position}, payloads()[position], {}});
}

double storing(std::size_t frames) {
  StoredStream stream{{"bench", {1}}};
  const Stopwatch watch{Clock::thread_cpu};
  fill(stream, frames);
  const double cost = watch.elapsed_ns() / static_cast<double>(frames);
  require(stream.size() == frames && stream.ledger().balanced(), "every frame is stored");
  return cost;
}

double reading(std::size_t frames) {
  StoredStream stream{{"bench", {1}}};
  fill(stream, frames);
  Tally tally;
  std::uint64_t missing = 0;
  const Stopwatch watch{Clock::thread_cpu};
  for (const datastream::LogEntry& entry : datastream::merged_log(stream)) {
    if (const auto* shown = std::get_if<datastream::LogFrame>(&entry))
      tally(shown->frame.channel.value, shown->frame.position.value, shown->frame.payload);
    else if (const auto* gap = std::get_if<datastream::GapSpan>(&entry))
      missing += gap->count();
  }
  const double cost = watch.elapsed_ns() / static_cast<double>(frames);
  require(tally.frames == frames && tally.bytes == frames * payloads().size(),
          "the log shows every frame");
  require(missing == stream.last()->value + 1 - frames, "the log shows every gap");
  return cost;
}

} // namespace

std::vector<Growth> frame_growth() {
  constexpr std::size_t largest = 3'000'000;
  return {{"frames", "store", "ns each", largest, storing},
          {"frames", "read the merged log", "ns each", largest, reading}};
}

} // namespace bench
