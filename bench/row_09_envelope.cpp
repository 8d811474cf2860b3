/// Row 9: the codec of the legacy envelope, one thread, processor time. A tick of frames is encoded
/// or decoded again and again, so that its bytes are near: what is compared is the codec, and not
/// memory. Ours encodes into a buffer that it uses again, and decodes into values that it uses
/// again where the line does not say that they are new; the reference makes new ones always.

#include "envelopes.hpp"
#include "harness/clock.hpp"
#include "harness/compare.hpp"
#include "harness/payloads.hpp"
#include "harness/require.hpp"
#include "harness/table.hpp"
#include "reference/bytes.hpp"
#include "reference/simple/envelope.hpp"

#include <datastream/envelope/codec.hpp>

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

constexpr std::size_t tick = 1000;

/// The same frames and envelopes for both sides.
struct Load {
  Load(std::string node, std::size_t payload_bytes, std::size_t frames)
      : stream(std::move(node)), payloads(payload_bytes), ticks(frames / tick),
        blocks(received(stream, payloads, tick)) {
    for (std::uint64_t position = 0; position < tick; ++position) {
      ours.push_back({{1}, {position}, payloads[position], {}});
      simple.push_back({1, position, reference::to_bytes(payloads[position])});
    }
  }

  NamedStream stream;
  PayloadSet payloads;
  std::size_t ticks;
  std::vector<ReceivedBlock> blocks;
  std::vector<datastream::FrameView> ours;
  std::vector<reference::simple::Frame> simple;
};

/// What every envelope comes to that was written: its length, and the last bytes of its payload.
struct Written {
  std::uint64_t bytes = 0;
  std::uint64_t words = 0;

  void operator()(std::string_view envelope) {
    std::uint64_t word = 0;
    std::memcpy(&word, envelope.data() + envelope.size() - sizeof word, sizeof word);
    bytes += envelope.size();
    words += word;
  }
  friend bool operator==(const Written&, const Written&) = default;
};

/// Nanoseconds an envelope. `pass` goes over the tick once, and tells a count what it has seen.
template <class Seen, class Pass>
double repeat(const Load& load, const Seen& expected, Pass pass) {
  Seen seen;
  const Stopwatch watch{Clock::thread_cpu};
  for (std::size_t i = 0; i < load.ticks; ++i)
    pass(seen);
  const double cost = watch.elapsed_ns() / static_cast<double>(load.ticks * tick);
  require(seen == expected, "every envelope is right");
  return cost;
}

void write_ours(const Load& load, Written& written) {
  static std::string out;
  for (const datastream::FrameView& frame : load.ours) {
    require(datastream::encode_envelope(out, load.stream.ours, frame).has_value(),
            "a frame is encoded");
    written(out);
  }
}

void write_simple(const Load& load, Written& written) {
  for (const reference::simple::Frame& frame : load.simple)
    written(reference::view(reference::simple::encode(load.stream.simple, frame)));
}

void view_ours(const Load& load, Tally& tally) {
  for (const ReceivedBlock& block : load.blocks)
    for (const std::string_view bytes : block.envelopes) {
      const auto envelope = datastream::decode_envelope(bytes);
      require(envelope && envelope->belongs_to(load.stream.ours), "an envelope is decoded");
      tally(envelope->channel.value, envelope->position.value, envelope->payload);
    }
}

void own_ours_again(const Load& load, Tally& tally) {
  static datastream::Delivery delivery;
  for (const ReceivedBlock& block : load.blocks)
    for (const std::string_view bytes : block.envelopes) {
      require(datastream::decode_delivery(delivery, bytes).has_value() &&
                  delivery.stream == load.stream.ours,
              "an envelope is decoded");
      const datastream::Frame& frame = delivery.frame;
      tally(frame.channel.value, frame.position.value, frame.payload);
    }
}

void own_ours(const Load& load, Tally& tally) {
  for (const ReceivedBlock& block : load.blocks)
    for (const std::string_view bytes : block.envelopes) {
      const auto delivery = datastream::decode_delivery(bytes);
      require(delivery && delivery->stream == load.stream.ours, "an envelope is decoded");
      const datastream::Frame& frame = delivery->frame;
      tally(frame.channel.value, frame.position.value, frame.payload);
    }
}

void own_simple(const Load& load, Tally& tally) {
  for (const ReceivedBlock& block : load.blocks)
    for (const std::string_view bytes : block.envelopes) {
      const auto delivery = reference::simple::decode(as_bytes(bytes));
      require(delivery && delivery->stream == load.stream.simple, "an envelope is decoded");
      const reference::simple::Frame& frame = delivery->frame;
      tally(frame.channel, frame.position, reference::view(frame.payload));
    }
}

/// Both sides write, byte for byte, what the blocks hold.
void check_bytes(const Load& load) {
  std::string out;
  std::size_t i = 0;
  for (const ReceivedBlock& block : load.blocks)
    for (const std::string_view bytes : block.envelopes) {
      require(datastream::encode_envelope(out, load.stream.ours, load.ours[i]).has_value(),
              "a frame is encoded");
      require(out == bytes, "ours writes the envelope");
      require(reference::view(reference::simple::encode(load.stream.simple, load.simple[i])) ==
                  bytes,
              "the reference writes the envelope");
      ++i;
    }
  require(i == tick, "there is a whole tick of envelopes");
}

void measure(Table& table, const Load& load, bool aimed) {
  check_bytes(load);
  Written written;
  Tally decoded;
  for (std::size_t i = 0; i < load.ticks; ++i) {
    for (const ReceivedBlock& block : load.blocks)
      for (const std::string_view bytes : block.envelopes)
        written(bytes);
    for (const datastream::FrameView& frame : load.ours)
      decoded(frame.channel.value, frame.position.value, frame.payload);
  }

  const auto line =
      [&]<class Seen>(std::string_view what, const Seen& expected, void (*ours)(const Load&, Seen&),
                      void (*simple)(const Load&, Seen&), std::optional<double> target) {
        const auto side = [&](std::string name, void (*pass)(const Load&, Seen&)) {
          return Side{std::move(name), [&load, &expected, pass] {
                        return repeat(load, expected, [&](Seen& seen) { pass(load, seen); });
                      }};
        };
        const std::array references{side("simple", simple)};
        const auto results = compare(side("ours", ours), references, table.rounds());
        table.line(fmt::format("envelope {}, node of {}, {} B", what,
                               load.stream.simple.node.size(), load.payloads.size()),
                   results.front(), aimed ? target : std::nullopt);
      };
  line("encode", written, write_ours, write_simple, 3.0);
  line("decode to a view", decoded, view_ours, own_simple, 5.0);
  line("decode owning", decoded, own_ours_again, own_simple, 3.5);
  line("decode owning, new memory", decoded, own_ours, own_simple, {});
}

void envelope(Table& table) {
  const std::size_t frames = table.frames(1'000'000);
  for (const std::string_view node : {"node-a", "node-of-16-chars"})
    measure(table, {std::string(node), 120, frames}, true);
  if (table.all_sizes())
    for (const std::size_t size : {64U, 1024U})
      measure(table, {"node-a", size, frames}, false);
}

const Row row{9, envelope};

} // namespace
