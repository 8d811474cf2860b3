#pragma once
/// Batches as a peer may send them: any headers over any block. A batch that is accepted must be
/// readable in every way; one that is not must have had a reason.
///
/// Input: one byte, the number of headers; 20 bytes for each (position 8, channel 4, offset 4,
/// length 4, little-endian; fewer at the end of the input are ignored); the rest is the block.

#include <datastream/model/frame_batch.hpp>

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace datastream::fuzz {

template <class Integer>
Integer take(std::span<const std::uint8_t>& input) {
  Integer value;
  std::memcpy(&value, input.data(), sizeof value);
  input = input.subspan(sizeof value);
  return value;
}

/// Touches every byte, by iterator and by index; nothing if the two differ.
inline std::optional<std::uint64_t> sum(const FrameBatch& batch) {
  std::uint64_t total = 0;
  std::size_t index = 0;
  for (const FrameView& frame : batch) {
    if (batch[index].payload.data() != frame.payload.data() ||
        batch[index].position != frame.position)
      return std::nullopt;
    ++index;
    total += frame.payload.size();
    for (const char byte : frame.payload)
      total += static_cast<std::uint8_t>(byte);
  }
  return index == batch.size() ? std::optional(total) : std::nullopt;
}

inline bool frame_batch_holds(std::string_view bytes) {
  std::span input(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  std::vector<FrameHeader> headers;
  if (!input.empty())
    for (std::size_t count = take<std::uint8_t>(input); count > 0 && input.size() >= 20; --count) {
      FrameHeader header;
      header.position.value = take<std::uint64_t>(input);
      header.channel.value = take<std::uint32_t>(input);
      header.offset = take<std::uint32_t>(input);
      header.length = take<std::uint32_t>(input);
      headers.push_back(header);
    }
  BlockPtr block = allocate_block(input.size());
  if (!input.empty())
    std::memcpy(block->data(), input.data(), input.size());

  const auto batch = FrameBatch::from_wire({"peer", {1}}, headers, block);
  if (!batch)
    return batch.error().header < headers.size();
  if (batch->size() != headers.size() || batch->payload_bytes() > input.size())
    return false;
  const auto total = sum(*batch);
  const FrameBatch compact = batch->compact();
  const std::size_t middle = batch->size() / 2;
  const auto low = sum(batch->slice(0, middle));
  const FrameBatch upper = batch->slice(middle, batch->size() - middle);
  const auto high = sum(upper);
  return total && low && high && sum(compact) == total &&
         compact.pinned_bytes() == batch->payload_bytes() && *low + *high == *total &&
         sum(upper.compact()) == high;
}

} // namespace datastream::fuzz
