/// Row 7: reassembling a stream from frames that arrive in some order, one thread, processor time.
///
/// By reference, the batches that arrived are handed over; the reference is handed frames that own
/// their payloads. With copy, our frames are views of a buffer that is used again; the reference is
/// still handed frames that own their payloads, and pays neither for that copy nor its memory.

#include "harness/clock.hpp"
#include "harness/compare.hpp"
#include "harness/payloads.hpp"
#include "harness/table.hpp"
#include "reference/bytes.hpp"
#include "reference/simple/store.hpp"

#include <datastream/defaults.hpp>
#include <datastream/ingest/consumer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace {

using namespace bench;

/// Positions in the order of their arrival. The frame at position p carries payload number p.
using Arrivals = std::vector<std::uint64_t>;

Arrivals in_order(std::size_t frames) {
  Arrivals arrivals(frames);
  std::iota(arrivals.begin(), arrivals.end(), 0);
  return arrivals;
}

/// Every frame may be overtaken by those up to `window` places away.
Arrivals jittered(std::size_t frames, std::size_t window) {
  Arrivals arrivals = in_order(frames);
  std::mt19937_64 random(window);
  for (auto begin = arrivals.begin(); begin != arrivals.end();) {
    const auto left = static_cast<std::size_t>(arrivals.end() - begin);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(window, left));
    std::shuffle(begin, end, random);
    begin = end;
  }
  return arrivals;
}

Arrivals shuffled(std::size_t frames) {
  return jittered(frames, frames);
}

/// Every tenth frame comes twice, the second time a hundred frames later.
Arrivals with_duplicates(std::size_t frames) {
  Arrivals arrivals;
  for (std::uint64_t position = 0; position < frames; ++position) {
    arrivals.push_back(position);
    if (position % 10 == 0 && position >= 100)
      arrivals.push_back(position - 100);
  }
  return arrivals;
}

const datastream::StreamId our_stream{"bench", {1}};
const reference::simple::StreamId simple_stream{"bench", 1};

void require_stored(const datastream::Consumer& consumer, const PayloadSet& payloads,
                    const Arrivals& arrivals, std::size_t frames) {
  const datastream::StoredStream* stream = consumer.store().find(our_stream);
  FullCheck check{payloads};
  for (const datastream::FrameView& frame : stream->frames())
    check(frame.channel.value, frame.position.value, frame.payload);
  require(check.frames() == frames, "every frame is stored");
  const auto ledger = stream->ledger();
  require(ledger.balanced() && ledger.arrived == arrivals.size() && ledger.stored == frames &&
              ledger.duplicates == arrivals.size() - frames,
          "the ledger balances");
}

double by_reference(const PayloadSet& payloads, const Arrivals& arrivals, std::size_t frames) {
  std::vector<datastream::FrameBatch> batches;
  std::vector<datastream::Frame> batch;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    batch.push_back({{1}, {arrivals[i]}, std::string(payloads[arrivals[i]])});
    if (batch.size() == datastream::defaults::batch_frames || i + 1 == arrivals.size()) {
      batches.push_back(datastream::FrameBatch::copy_of(our_stream, batch));
      batch.clear();
    }
  }

  datastream::Consumer consumer;
  const Stopwatch watch{Clock::thread_cpu};
  for (datastream::FrameBatch& arrived : batches) {
    consumer.accept(arrived);
    arrived = {};
  }
  const double cost = watch.elapsed_ns() / static_cast<double>(arrivals.size());
  require_stored(consumer, payloads, arrivals, frames);
  return cost;
}

double with_copy(const PayloadSet& payloads, const Arrivals& arrivals, std::size_t frames) {
  datastream::Consumer consumer;
  const Stopwatch watch{Clock::thread_cpu};
  datastream::StoredStream& stream = consumer.store().open(our_stream);
  for (const std::uint64_t position : arrivals)
    stream.accept({{1}, {position}, payloads[position], {}});
  const double cost = watch.elapsed_ns() / static_cast<double>(arrivals.size());
  require_stored(consumer, payloads, arrivals, frames);
  return cost;
}

double into_map(const PayloadSet& payloads, const Arrivals& arrivals, std::size_t frames) {
  std::vector<reference::simple::Frame> arrived;
  arrived.reserve(arrivals.size());
  for (const std::uint64_t position : arrivals)
    arrived.push_back({1, position, reference::to_bytes(payloads[position])});

  reference::simple::Store store;
  std::size_t stored = 0;
  const Stopwatch watch{Clock::thread_cpu};
  for (reference::simple::Frame& frame : arrived)
    stored += store.accept(simple_stream, std::move(frame));
  const double cost = watch.elapsed_ns() / static_cast<double>(arrivals.size());

  require(stored == frames, "every frame is stored once");
  FullCheck check{payloads};
  for (const auto& [position, frame] : store.stream(simple_stream).frames())
    check(frame.channel, position, reference::view(frame.payload));
  require(check.frames() == frames, "every frame is stored");
  return cost;
}

using Ours = double (*)(const PayloadSet&, const Arrivals&, std::size_t);

void ingest(Table& table) {
  // As many as fit into memory that both sides use again from run to run: what is compared is
  // storing, and not the system's speed in handing out pages.
  const std::size_t frames = table.frames(500'000);
  struct Order {
    std::string_view name;
    Arrivals arrivals;
    std::optional<double> by_reference;
    double with_copy;
  };
  const std::array orders{Order{"in order", in_order(frames), 25.0, 10.0},
                          Order{"jittered by 256", jittered(frames, 256), {}, 10.0},
                          Order{"10 % duplicates", with_duplicates(frames), {}, 12.0},
                          Order{"shuffled", shuffled(frames), 12.0, 6.0}};

  const auto measure = [&](std::string_view name, Ours ours, const Order& order, std::size_t size,
                           std::optional<double> target) {
    const PayloadSet payloads{size};
    const std::array references{
        Side{"simple", [&] { return into_map(payloads, order.arrivals, frames); }}};
    const auto results = compare({"ours", [&] { return ours(payloads, order.arrivals, frames); }},
                                 references, table.rounds());
    table.line(fmt::format("ingest {}, {}, {} B", name, order.name, size), results.front(), target);
  };
  const auto measure_size = [&](std::size_t size, bool aimed) {
    for (const Order& order : orders)
      if (order.by_reference)
        measure("by reference", by_reference, order, size,
                aimed ? order.by_reference : std::nullopt);
    for (const Order& order : orders)
      measure("with copy", with_copy, order, size,
              aimed ? std::optional(order.with_copy) : std::nullopt);
  };
  measure_size(120, true);
  if (table.all_sizes()) {
    measure_size(64, false);
    measure_size(1024, false);
  }
}

const Row row{7, ingest};

} // namespace
