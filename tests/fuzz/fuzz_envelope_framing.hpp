#pragma once
/// Arbitrary bytes as a stream of envelopes, cut in arbitrary ways: the same envelopes come out, or
/// the same error, as from one reading of the whole.
///
/// Input: one byte n; n bytes, the sizes of pieces less one, in units of 16 bytes, over and over
/// until the stream ends; one byte of options: bit 0, blocks are shared; bit 1, the stream is
/// repeated until it fills several blocks, and pieces are larger; the others, the maximum. The rest
/// is the stream.

#include <datastream/envelope/framing.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace datastream::fuzz {

struct FramedStream {
  std::vector<std::string_view> envelopes; ///< in the stream
  bool over_maximum = false;
  std::size_t incomplete = 0; ///< bytes at the end
};

/// What the format says, in the simplest way.
inline FramedStream read_whole(std::string_view stream, std::size_t envelope_max) {
  FramedStream result;
  while (stream.size() >= 4) {
    std::size_t length = 0;
    for (std::size_t at = 4; at-- > 0;)
      length = length << 8U | static_cast<std::uint8_t>(stream[at]);
    result.over_maximum = length > envelope_max;
    if (result.over_maximum || stream.size() - 4 < length)
      break;
    result.envelopes.push_back(stream.substr(4, length));
    stream.remove_prefix(4 + length);
  }
  result.incomplete = stream.size();
  return result;
}

/// Pieces of the given sizes give the same.
inline bool pieces_give(const FramedStream& expected, std::string_view stream,
                        std::size_t envelope_max, std::string_view sizes, std::size_t smallest,
                        bool share) {
  EnvelopeFraming framing(envelope_max);
  std::size_t count = 0;
  std::vector<BlockPtr> shared;
  std::vector<std::string_view> in_blocks;
  for (std::size_t turn = 0; !stream.empty() && !framing.over_maximum(); ++turn) {
    const std::size_t wanted =
        sizes.empty()
            ? stream.size()
            : smallest *
                  (1 + 16 * std::size_t{static_cast<std::uint8_t>(sizes[turn % sizes.size()])});
    const auto room = framing.room();
    const std::size_t piece = std::min({wanted, room.size(), stream.size()});
    std::memcpy(room.data(), stream.data(), piece);
    framing.fill(piece);
    stream.remove_prefix(piece);
    for (; const auto envelope = framing.next(); ++count) {
      if (count == expected.envelopes.size() || *envelope != expected.envelopes[count])
        return false;
      if (share) {
        if (shared.empty() || shared.back().get() != framing.block().get())
          shared.push_back(framing.block());
        in_blocks.push_back(*envelope);
      }
    }
  }
  // While blocks are shared, what lies in them stays.
  return std::ranges::equal(in_blocks, share ? expected.envelopes : decltype(in_blocks)()) &&
         count == expected.envelopes.size() && framing.over_maximum() == expected.over_maximum &&
         (framing.over_maximum() || framing.incomplete() == expected.incomplete);
}

inline bool envelope_framing_holds(std::string_view input) {
  const std::size_t count = input.empty() ? 0 : static_cast<std::uint8_t>(input[0]);
  if (input.size() < count + 2)
    return true;
  const std::string_view sizes = input.substr(1, count);
  const auto options = static_cast<std::uint8_t>(input[1 + count]);
  std::string stream(input.substr(2 + count));
  const bool repeated = (options & 2U) != 0 && !stream.empty();
  while (repeated && stream.size() < 3 * EnvelopeFraming::chunk_bytes)
    stream += stream;
  const std::size_t envelope_max = std::size_t{options} >> 2U << 12U;
  return pieces_give(read_whole(stream, envelope_max), stream, envelope_max, sizes,
                     repeated ? 101 : 1, (options & 1U) != 0);
}

} // namespace datastream::fuzz
