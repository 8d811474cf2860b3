#pragma once
/// What rows 8 and 9 decode: the envelopes of one stream, as they lie in blocks that were received.

#include "harness/payloads.hpp"
#include "harness/require.hpp"
#include "reference/simple/frame.hpp"

#include <datastream/defaults.hpp>
#include <datastream/envelope/codec.hpp>
#include <datastream/model/block.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

/// A stream by the name that both sides have for it.
struct NamedStream {
  explicit NamedStream(std::string node) : ours{node, {7}}, simple{std::move(node), 7} {}
  datastream::StreamId ours;
  reference::simple::StreamId simple;
};

/// A block, and the envelopes that lie in it one behind the other.
struct ReceivedBlock {
  datastream::BlockPtr block;
  std::vector<std::string_view> envelopes;
};

/// Frames at positions from 0 on channel 1, in blocks of the size that a slab has.
inline std::vector<ReceivedBlock> received(const NamedStream& stream, const PayloadSet& payloads,
                                           std::size_t frames) {
  const std::size_t each = datastream::envelope_size(stream.ours, payloads.size());
  const std::size_t per_block = datastream::defaults::slab_bytes / each;
  std::vector<ReceivedBlock> blocks;
  std::string envelope;
  for (std::uint64_t position = 0; position < frames; ++position) {
    if (blocks.empty() || blocks.back().envelopes.size() == per_block) {
      const std::size_t left = std::min(per_block, frames - static_cast<std::size_t>(position));
      blocks.push_back({datastream::allocate_block(left * each), {}});
      require(static_cast<bool>(blocks.back().block), "there is memory");
    }
    ReceivedBlock& block = blocks.back();
    require(datastream::encode_envelope(envelope, stream.ours,
                                        {{1}, {position}, payloads[position], {}})
                .has_value(),
            "a frame is encoded");
    char* const at = block.block->data() + block.envelopes.size() * each;
    std::memcpy(at, envelope.data(), each);
    block.envelopes.emplace_back(at, each);
  }
  return blocks;
}

inline std::span<const std::uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

} // namespace bench
