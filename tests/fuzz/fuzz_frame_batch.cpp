/// Batches as a peer may send them: any headers over any block. A batch that is accepted must be
/// readable in every way; one that is not must have had a reason.
///
/// Input: one byte, the number of headers; 20 bytes for each (position 8, channel 4, offset 4,
/// length 4, little-endian; fewer at the end of the input are ignored); the rest is the block.

#include <datastream/model/frame_batch.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

using namespace datastream;

namespace {

void require(bool condition) {
  if (!condition)
    std::abort();
}

template <class Integer>
Integer take(std::span<const std::uint8_t>& input) {
  Integer value;
  std::memcpy(&value, input.data(), sizeof value);
  input = input.subspan(sizeof value);
  return value;
}

/// Touches every byte, by iterator and by index.
std::uint64_t sum(const FrameBatch& batch) {
  std::uint64_t total = 0;
  std::size_t index = 0;
  for (const FrameView& frame : batch) {
    require(batch[index].payload.data() == frame.payload.data());
    require(batch[index].position == frame.position);
    ++index;
    total += frame.payload.size();
    for (const char byte : frame.payload)
      total += static_cast<std::uint8_t>(byte);
  }
  require(index == batch.size());
  return total;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::span input(data, size);
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
  if (!batch) {
    require(batch.error().header < headers.size());
    return 0;
  }
  require(batch->size() == headers.size());
  require(batch->payload_bytes() <= input.size());
  const std::uint64_t total = sum(*batch);

  const FrameBatch compact = batch->compact();
  require(sum(compact) == total);
  require(compact.pinned_bytes() == batch->payload_bytes());

  const std::size_t middle = batch->size() / 2;
  const FrameBatch low = batch->slice(0, middle);
  const FrameBatch high = batch->slice(middle, batch->size() - middle);
  require(sum(low) + sum(high) == total);
  require(sum(high.compact()) == sum(high));
  return 0;
}
