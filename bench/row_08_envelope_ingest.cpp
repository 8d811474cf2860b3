/// Row 8, first half: envelopes that lie in received blocks, decoded and stored, one thread,
/// processor time. Receiving is a copy out of another buffer, as the system hands bytes over: ours
/// needs a new block each time, which its store keeps, and the reference uses one again. It is in
/// the cost only where the line says so.

#include "envelopes.hpp"
#include "harness/clock.hpp"
#include "harness/compare.hpp"
#include "harness/payloads.hpp"
#include "harness/require.hpp"
#include "harness/table.hpp"
#include "reference/simple/envelope.hpp"
#include "reference/simple/store.hpp"

#include <datastream/envelope/batcher.hpp>
#include <datastream/ingest/consumer.hpp>

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace bench;

enum class Receiving { not_timed, timed };

/// Everything that one measure has in common.
struct Load {
  Load(std::string node, std::size_t payload_bytes, std::size_t count)
      : stream(std::move(node)), payloads(payload_bytes), frames(count),
        blocks(received(stream, payloads, frames)) {}
  NamedStream stream;
  PayloadSet payloads;
  std::size_t frames;
  std::vector<ReceivedBlock> blocks;
};

/// What a receive gave: the bytes, and where each envelope lies in them.
template <class Store>
void each_envelope(const ReceivedBlock& sent, const char* begin, Store store) {
  const char* const from = sent.block->data();
  for (const std::string_view envelope : sent.envelopes)
    store(std::string_view(begin + (envelope.data() - from), envelope.size()));
}

/// Receives and stores block after block; nanoseconds a frame.
template <class Receive, class Store>
double cost_of(Receiving receiving, const std::vector<ReceivedBlock>& blocks, std::size_t frames,
               Receive receive, Store store) {
  double cost = 0;
  for (const ReceivedBlock& block : blocks) {
    const Stopwatch both{Clock::thread_cpu};
    receive(block);
    const Stopwatch storing{Clock::thread_cpu};
    store(block);
    cost += (receiving == Receiving::timed ? both : storing).elapsed_ns();
  }
  return cost / static_cast<double>(frames);
}

double store_ours(const Load& load, Receiving receiving) {
  datastream::Consumer consumer;
  datastream::EnvelopeBatcher batcher;
  std::vector<datastream::FrameBatch> batches;
  datastream::BlockPtr block;
  const double cost = cost_of(
      receiving, load.blocks, load.frames,
      [&](const ReceivedBlock& sent) {
        block = datastream::allocate_block(sent.block->capacity());
        require(static_cast<bool>(block), "there is memory");
        std::memcpy(block->data(), sent.block->data(), sent.block->capacity());
      },
      [&](const ReceivedBlock& sent) {
        each_envelope(sent, block->data(), [&](std::string_view bytes) {
          const auto envelope = datastream::decode_envelope(bytes);
          require(envelope && batcher.add(*envelope, block), "an envelope is decoded");
        });
        batcher.take(block, batches);
        for (const datastream::FrameBatch& batch : batches)
          consumer.accept(batch);
        batches.clear();
      });

  const datastream::StoredStream* stored = consumer.store().find(load.stream.ours);
  require(stored != nullptr, "the stream is stored");
  FullCheck check{load.payloads};
  for (const datastream::FrameView& frame : stored->frames())
    check(frame.channel.value, frame.position.value, frame.payload);
  require(check.frames() == load.frames, "every frame is stored");
  require(stored->ledger().balanced() && stored->ledger().stored == load.frames,
          "the ledger balances");
  return cost;
}

double store_simple(const Load& load, Receiving receiving) {
  reference::simple::Store store;
  std::vector<char> buffer(datastream::defaults::slab_bytes);
  std::size_t stored = 0;
  const double cost = cost_of(
      receiving, load.blocks, load.frames,
      [&](const ReceivedBlock& sent) {
        std::memcpy(buffer.data(), sent.block->data(), sent.block->capacity());
      },
      [&](const ReceivedBlock& sent) {
        each_envelope(sent, buffer.data(), [&](std::string_view bytes) {
          auto delivery = reference::simple::decode(as_bytes(bytes));
          require(delivery.has_value(), "an envelope is decoded");
          stored += store.accept(delivery->stream, std::move(delivery->frame)) ? 1 : 0;
        });
      });

  require(stored == load.frames, "every frame is stored once");
  FullCheck check{load.payloads};
  for (const auto& [position, frame] : store.stream(load.stream.simple).frames())
    check(frame.channel, position, reference::view(frame.payload));
  require(check.frames() == load.frames, "every frame is stored");
  return cost;
}

void measure(Table& table, const Load& load, Receiving receiving, std::optional<double> target) {
  const std::array references{Side{"simple", [&] { return store_simple(load, receiving); }}};
  const auto results =
      compare({"ours", [&] { return store_ours(load, receiving); }}, references, table.rounds());
  table.line(fmt::format("envelope bytes to store{}, node of {}, {} B",
                         receiving == Receiving::timed ? ", with receiving" : "",
                         load.stream.simple.node.size(), load.payloads.size()),
             results.front(), target);
}

void envelopes_to_store(Table& table) {
  const std::size_t frames = table.frames(500'000);
  for (const std::string_view node : {"node-a", "node-of-16-chars"}) {
    const Load load{std::string(node), 120, frames};
    measure(table, load, Receiving::not_timed, 20.0);
    measure(table, load, Receiving::timed, {});
  }
  if (table.all_sizes())
    for (const std::size_t size : {64U, 1024U})
      measure(table, {"node-a", size, frames}, Receiving::not_timed, {});
}

const Row row{8, envelopes_to_store};

} // namespace
