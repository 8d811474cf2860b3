#pragma once
/// Arbitrary bytes as a stream of envelopes, cut in arbitrary ways: the same envelopes come out, or
/// the same error, as from one reading of the whole.
///
/// Input: one byte n; n bytes, each the size of a piece divided by 16 (0: one byte), over and over
/// until the stream ends; one byte of options: bit 0, blocks are shared; bit 1, the stream is
/// repeated until it fills several blocks; the others, the maximum. The rest is the stream.

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
  std::vector<std::string> envelopes;
  bool over_maximum = false;
  std::size_t incomplete = 0; ///< bytes at the end; not compared when the maximum was exceeded
  friend bool operator==(const FramedStream&, const FramedStream&) = default;
};

/// What the format says, in the simplest way.
inline FramedStream read_whole(std::string_view stream, std::size_t envelope_max) {
  FramedStream result;
  while (stream.size() >= 4) {
    std::size_t length = 0;
    for (std::size_t at = 4; at-- > 0;)
      length = length << 8U | static_cast<std::uint8_t>(stream[at]);
    if (length > envelope_max) {
      result.over_maximum = true;
      return result;
    }
    if (stream.size() - 4 < length)
      break;
    result.envelopes.emplace_back(stream.substr(4, length));
    stream.remove_prefix(4 + length);
  }
  result.incomplete = stream.size();
  return result;
}

inline FramedStream read_in_pieces(std::string_view stream, std::size_t envelope_max,
                                   std::string_view sizes, bool share) {
  FramedStream result;
  EnvelopeFraming framing(envelope_max);
  std::vector<BlockPtr> shared;
  std::vector<std::string_view> in_blocks; // must not change while the blocks are shared
  for (std::size_t turn = 0; !stream.empty() && !framing.over_maximum(); ++turn) {
    const std::size_t wanted =
        sizes.empty() ? stream.size()
                      : 1 + 16 * std::size_t{static_cast<std::uint8_t>(sizes[turn % sizes.size()])};
    const auto room = framing.room();
    const std::size_t piece = std::min({wanted, room.size(), stream.size()});
    std::memcpy(room.data(), stream.data(), piece);
    framing.fill(piece);
    stream.remove_prefix(piece);
    while (const auto envelope = framing.next()) {
      result.envelopes.emplace_back(*envelope);
      if (share) {
        shared.push_back(framing.block());
        in_blocks.push_back(*envelope);
      }
    }
  }
  for (std::size_t at = 0; at < in_blocks.size(); ++at)
    if (in_blocks[at] != result.envelopes[at])
      result.envelopes[at] = "changed";
  result.over_maximum = framing.over_maximum();
  result.incomplete = framing.over_maximum() ? 0 : framing.incomplete();
  return result;
}

inline bool envelope_framing_holds(std::string_view input) {
  const std::size_t count = input.empty() ? 0 : static_cast<std::uint8_t>(input[0]);
  if (input.size() < count + 2)
    return true;
  const std::string_view sizes = input.substr(1, count);
  const auto options = static_cast<std::uint8_t>(input[1 + count]);
  std::string stream(input.substr(2 + count));
  if ((options & 2U) != 0 && !stream.empty())
    while (stream.size() < 3 * EnvelopeFraming::chunk_bytes)
      stream += stream;
  const std::size_t envelope_max = std::size_t{options} >> 2U << 12U;
  return read_in_pieces(stream, envelope_max, sizes, (options & 1U) != 0) ==
         read_whole(stream, envelope_max);
}

} // namespace datastream::fuzz
