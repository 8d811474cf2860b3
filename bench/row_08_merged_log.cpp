/// Row 8, second half: the merged log of a stored stream of which every hundredth frame is
/// missing, made and gone through once, one thread, processor time. Read, the first bytes of every
/// payload are looked at, which lie where only memory reaches; walked, its position, channel and
/// length only.

#include "harness/clock.hpp"
#include "harness/compare.hpp"
#include "harness/payloads.hpp"
#include "harness/require.hpp"
#include "harness/table.hpp"
#include "reference/bytes.hpp"
#include "reference/simple/merged_log.hpp"

#include <datastream/ingest/stored_stream.hpp>
#include <datastream/views/merged_log.hpp>

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace {

using namespace bench;

constexpr std::uint64_t gap_interval = 100;

enum class Look { read, walk };

/// What a log comes to, the same on both sides.
struct Reading {
  Tally frames; ///< without the first bytes when the log was walked
  std::uint64_t missing = 0;
  friend bool operator==(const Reading&, const Reading&) = default;

  template <Look look>
  void add(std::uint32_t channel, std::uint64_t position, std::string_view payload) {
    if constexpr (look == Look::read) {
      frames(channel, position, payload);
    } else {
      ++frames.frames;
      frames.positions += position;
      frames.bytes += payload.size();
    }
  }
};

/// Calls `store(position)` for every position that is not missing; the last one is stored.
template <class StoreFrame>
Reading fill(const PayloadSet& payloads, std::uint64_t positions, StoreFrame store) {
  Reading expected;
  for (std::uint64_t position = 0; position < positions; ++position) {
    if (position % gap_interval == gap_interval / 2) {
      ++expected.missing;
      continue;
    }
    store(position);
    expected.frames(1, position, payloads[position]);
  }
  return expected;
}

template <class ReadLog>
double cost_of(ReadLog read_log, const Reading& expected) {
  const Stopwatch watch{Clock::thread_cpu};
  const Reading reading = read_log();
  const double cost = watch.elapsed_ns() / static_cast<double>(expected.frames.frames);
  require(reading == expected, "the log shows every frame and every gap");
  return cost;
}

template <Look look>
Reading read_ours(const datastream::StoredStream& stream) {
  Reading reading;
  for (const datastream::LogEntry& entry : datastream::merged_log(stream)) {
    if (const auto* shown = std::get_if<datastream::LogFrame>(&entry))
      reading.add<look>(shown->frame.channel.value, shown->frame.position.value,
                        shown->frame.payload);
    else if (const auto* gap = std::get_if<datastream::GapSpan>(&entry))
      reading.missing += gap->count();
  }
  return reading;
}

template <Look look>
Reading read_simple(const reference::simple::StoredStream& stream) {
  Reading reading;
  for (const reference::simple::LogEntry& entry : reference::simple::merged_log(stream)) {
    if (const auto* shown = std::get_if<reference::simple::MergedFrame>(&entry))
      reading.add<look>(shown->channel, shown->position, reference::view(shown->body));
    else if (const auto* gap = std::get_if<reference::simple::Gap>(&entry))
      reading.missing += gap->end - gap->start + 1;
  }
  return reading;
}

void measure(Table& table, std::size_t size, std::optional<double> target) {
  const PayloadSet payloads{size};
  const std::size_t positions = table.frames(1'000'000);

  datastream::StoredStream ours{{"bench", {1}}};
  const Reading expected = fill(payloads, positions, [&](std::uint64_t position) {
    ours.accept({{1}, {position}, payloads[position], {}});
  });
  reference::simple::StoredStream simple;
  fill(payloads, positions, [&](std::uint64_t position) {
    simple.record({1, position, reference::to_bytes(payloads[position])});
  });

  const auto compare_looks = [&]<Look look>(std::string_view name, const Reading& reading) {
    const std::array references{Side{
        "simple", [&] { return cost_of([&] { return read_simple<look>(simple); }, reading); }}};
    const auto results =
        compare({"ours", [&] { return cost_of([&] { return read_ours<look>(ours); }, reading); }},
                references, table.rounds());
    table.line(fmt::format("merged log with gaps, made and {}, {} B", name, size), results.front(),
               target);
  };
  compare_looks.operator()<Look::read>("read", expected);
  Reading walked = expected;
  walked.frames.words = 0;
  compare_looks.operator()<Look::walk>("walked", walked);
}

void merged_log(Table& table) {
  measure(table, 120, 40.0);
  if (table.all_sizes()) {
    measure(table, 64, {});
    measure(table, 1024, {});
  }
}

const Row row{8, merged_log};

} // namespace
