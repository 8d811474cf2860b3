#include "frames_block.hpp"

#include "bytes.hpp"

#include <algorithm>
#include <utility>

namespace datastream::format {

void FramesBlockBuilder::begin_batch(const std::shared_ptr<const StreamId>& stream,
                                     std::int64_t arrival) {
  const auto known = index_of_.find(*stream);
  if (known != index_of_.end()) {
    current_ = known->second;
  } else {
    const auto index = static_cast<std::uint32_t>(streams_.size());
    streams_.push_back({stream, {}, {}, 0, {}});
    try {
      index_of_.emplace(*stream, index);
    } catch (...) {
      streams_.pop_back();
      throw;
    }
    directory_bytes_ += stream_entry_bytes + stream->node.value.size();
    current_ = index;
  }
  known_channels_.fill(0);
  arrival_ = arrival;
  batch_begins_ = true;
}

bool FramesBlockBuilder::has_room(const StreamId& stream, std::size_t payload_bytes) const {
  return table_.size() < block_frames_max &&
         payloads_.size() + (table_.size() + 1) * frame_entry_bytes + payload_bytes <=
             body_bytes_max &&
         directory_bytes_ + stream_entry_bytes + batch_entry_bytes + stream.node.value.size() + 4 <=
             directory_bytes_max;
}

void FramesBlockBuilder::note_channel(std::uint32_t channel) {
  std::uint64_t& place = known_channels_[channel % known_channels_.size()];
  if (place == std::uint64_t{channel} + 1)
    return;
  auto& channels = streams_[current_].channels;
  const auto at = std::ranges::lower_bound(channels, channel);
  if (at == channels.end() || *at != channel) {
    channels.insert(at, channel);
    directory_bytes_ += 4;
  }
  place = std::uint64_t{channel} + 1;
}

void FramesBlockBuilder::add(const FrameView& frame) {
  // All that can fail comes first.
  table_.push_back({frame.position.value, frame.channel.value,
                    static_cast<std::uint32_t>(frame.payload.size())});
  try {
    if (batch_begins_ && batches_.size() == batches_.capacity())
      batches_.reserve(2 * batches_.size() + 1);
    note_channel(frame.channel.value);
    payloads_.append(frame.payload);
  } catch (...) {
    table_.pop_back();
    throw;
  }
  BlockStream& stream = streams_[current_];
  stream.lowest = stream.frames == 0 ? frame.position : std::min(stream.lowest, frame.position);
  stream.highest = stream.frames == 0 ? frame.position : std::max(stream.highest, frame.position);
  ++stream.frames;
  if (batch_begins_) {
    batches_.push_back({current_, 0, arrival_});
    directory_bytes_ += batch_entry_bytes;
    batch_begins_ = false;
  }
  ++batches_.back().frames;
}

UnplacedBlock FramesBlockBuilder::finish(Compressor& compressor) {
  BlockHeader header;
  header.kind = BlockKind::frames;
  header.frames = static_cast<std::uint32_t>(table_.size());
  header.batches = static_cast<std::uint32_t>(batches_.size());

  // A stream of which no frame was added has no place in the directory.
  std::vector<std::uint32_t> renumbered(streams_.size());
  std::string directory;
  directory.reserve(directory_bytes_);
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const BlockStream& stream = streams_[i];
    if (stream.frames == 0)
      continue;
    renumbered[i] = header.streams++;
    const std::string& node = stream.stream->node.value;
    put(directory, static_cast<std::uint32_t>(node.size()));
    put(directory, static_cast<std::uint32_t>(stream.channels.size()));
    put(directory, stream.stream->life.value);
    put(directory, stream.lowest.value);
    put(directory, stream.highest.value);
    put(directory, stream.frames);
    put(directory, std::uint32_t{0});
    directory.append(node);
    for (std::uint32_t channel : stream.channels)
      put(directory, channel);
  }
  for (const BlockBatch& batch : batches_) {
    put(directory, renumbered[batch.stream]);
    put(directory, batch.frames);
    put(directory, batch.arrival);
  }
  payloads_.append(reinterpret_cast<const char*>(table_.data()), table_.size() * sizeof(Entry));
  UnplacedBlock block = compressor.finish(header, std::move(directory), std::move(payloads_));
  clear();
  return block;
}

void FramesBlockBuilder::clear(std::string&& memory) noexcept {
  clear();
  payloads_ = std::move(memory);
  payloads_.clear();
}

void FramesBlockBuilder::clear() noexcept {
  payloads_.clear();
  table_.clear();
  streams_.clear();
  index_of_.clear();
  batches_.clear();
  directory_bytes_ = 0;
}

Decoded<FramesBlock> decode_frames(const BlockHeader& header, BlockDirectory directory,
                                   const BlockPtr& body) {
  const std::size_t table_bytes = std::size_t{header.frames} * frame_entry_bytes;
  if (header.raw_bytes < table_bytes)
    return malformed("the block's body is too short for its frames");
  const char* entry = body->data() + (header.raw_bytes - table_bytes);
  const std::size_t payload_bytes = header.raw_bytes - table_bytes;

  FramesBlock decoded;
  decoded.directory = std::move(directory);
  decoded.batches.reserve(decoded.directory.batches.size());
  std::size_t offset = 0;
  struct Seen {
    Position lowest{UINT64_MAX};
    Position highest{0};
    std::uint32_t frames = 0;
  };
  std::vector<Seen> seen(decoded.directory.streams.size());
  for (const BlockBatch& batch : decoded.directory.batches) {
    const BlockStream& stream = decoded.directory.streams[batch.stream];
    Seen& of_stream = seen[batch.stream];
    FrameBatchWriter writer(batch.frames);
    for (std::uint32_t i = 0; i < batch.frames; ++i, entry += frame_entry_bytes) {
      const Position position{get<std::uint64_t>(entry)};
      const auto channel = get<std::uint32_t>(entry + 8);
      const auto length = get<std::uint32_t>(entry + 12);
      if (length > payload_bytes - offset)
        return malformed("a payload reaches beyond the block's body");
      if (!stream.has_channel(channel))
        return malformed("a frame has a channel that the block's directory does not have");
      of_stream.lowest = std::min(of_stream.lowest, position);
      of_stream.highest = std::max(of_stream.highest, position);
      writer.append({position, {channel}, static_cast<std::uint32_t>(offset), length, 0});
      offset += length;
    }
    of_stream.frames += batch.frames;
    decoded.batches.push_back(std::move(writer).finish(stream.stream, body));
  }
  if (offset != payload_bytes)
    return malformed("the block's payloads do not fill its body");
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const BlockStream& stream = decoded.directory.streams[i];
    if (seen[i].frames != stream.frames || seen[i].lowest != stream.lowest ||
        seen[i].highest != stream.highest)
      return malformed("the block's frames are not those of its directory");
  }
  return decoded;
}

} // namespace datastream::format
