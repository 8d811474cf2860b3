#include <datastream/model/frame_batch.hpp>

#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>

namespace datastream {

FrameBatch::StoragePtr::StoragePtr(const StoragePtr& other) noexcept : storage_(other.storage_) {
  if (storage_)
    storage_->references.fetch_add(1, std::memory_order_relaxed);
}

FrameBatch::StoragePtr::~StoragePtr() {
  if (storage_ && storage_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    storage_->~Storage();
    ::operator delete(storage_);
  }
}

FrameBatchWriter::FrameBatchWriter(std::size_t capacity) {
  void* memory = ::operator new(sizeof(FrameBatch::Storage) + capacity * sizeof(FrameHeader));
  storage_ = new (memory) FrameBatch::Storage;
  storage_->capacity = static_cast<std::uint32_t>(capacity);
}

FrameBatchWriter::~FrameBatchWriter() {
  if (storage_) {
    storage_->~Storage();
    ::operator delete(storage_);
  }
}

FrameBatch FrameBatchWriter::finish(std::shared_ptr<const StreamId> stream,
                                    BlockPtr block) && noexcept {
  storage_->stream = std::move(stream);
  storage_->block = std::move(block);
  return FrameBatch(std::exchange(storage_, nullptr), 0, count_);
}

FrameBatch FrameBatch::copy_of(const StreamId& stream, std::span<const Frame> frames) {
  std::vector<FrameView> views;
  views.reserve(frames.size());
  for (const Frame& frame : frames)
    views.push_back({frame.channel, frame.position, frame.payload, {}});
  return copy_of(stream, views);
}

FrameBatch FrameBatch::copy_of(const StreamId& stream, std::span<const FrameView> frames) {
  if (frames.empty())
    return {};
  std::size_t bytes = 0;
  for (const FrameView& frame : frames)
    bytes += frame.payload.size();
  if (bytes > std::numeric_limits<std::uint32_t>::max())
    throw std::length_error("a batch holds at most 4 GiB");
  BlockPtr block = allocate_block(bytes);
  if (!block)
    throw std::bad_alloc();
  FrameBatchWriter writer{frames.size()};
  std::uint32_t offset = 0;
  for (const FrameView& frame : frames) {
    const auto length = static_cast<std::uint32_t>(frame.payload.size());
    if (length > 0) // an empty payload may have no address
      std::memcpy(block->data() + offset, frame.payload.data(), length);
    writer.append({frame.position, frame.channel, offset, length});
    offset += length;
  }
  return std::move(writer).finish(std::make_shared<const StreamId>(stream), std::move(block));
}

std::expected<FrameBatch, FrameBatch::Malformed>
FrameBatch::from_wire(StreamId stream, std::span<const FrameHeader> headers, BlockPtr block) {
  const std::size_t capacity = block ? block->capacity() : 0;
  std::size_t left = capacity;
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const FrameHeader& header = headers[i];
    if (header.offset > capacity || header.length > capacity - header.offset ||
        header.length > left)
      return std::unexpected(Malformed{i});
    left -= header.length;
  }
  if (headers.empty())
    return FrameBatch{};
  if (!block)
    block = allocate_block(0); // all payloads are empty
  if (!block)
    throw std::bad_alloc();
  FrameBatchWriter writer{headers.size()};
  for (const FrameHeader& header : headers)
    writer.append({header.position, header.channel, header.offset, header.length});
  return std::move(writer).finish(std::make_shared<const StreamId>(std::move(stream)),
                                  std::move(block));
}

const StreamId& FrameBatch::stream() const noexcept {
  return *storage_->stream;
}

const std::shared_ptr<const StreamId>& FrameBatch::shared_stream() const noexcept {
  static const std::shared_ptr<const StreamId> none;
  return storage_ ? storage_->stream : none;
}

FrameBatch FrameBatch::slice(std::size_t first, std::size_t count) const noexcept {
  if (count == 0)
    return {};
  FrameBatch part = *this;
  part.first_ += static_cast<std::uint32_t>(first);
  part.count_ = static_cast<std::uint32_t>(count);
  return part;
}

FrameBatch FrameBatch::prefix_within(std::size_t frames, std::size_t bytes) const {
  if (size() <= frames && pinned_bytes() <= bytes)
    return *this;
  std::size_t count = 0;
  std::size_t payload = 0;
  for (const FrameHeader& header : headers()) {
    if (count == frames || payload + header.length > bytes)
      break;
    ++count;
    payload += header.length;
  }
  FrameBatch part = slice(0, count);
  const std::size_t pinned = part.pinned_bytes();
  return count == 0 || (pinned <= bytes && pinned <= 2 * payload) ? part : part.compact();
}

FrameBatch FrameBatch::compact() const {
  if (empty())
    return {};
  BlockPtr block = allocate_block(payload_bytes());
  if (!block)
    throw std::bad_alloc();
  FrameBatchWriter writer{size()};
  std::uint32_t offset = 0;
  for (const FrameHeader& header : headers()) {
    std::memcpy(block->data() + offset, storage_->block->data() + header.offset, header.length);
    writer.append({header.position, header.channel, offset, header.length});
    offset += header.length;
  }
  return std::move(writer).finish(storage_->stream, std::move(block));
}

std::size_t FrameBatch::payload_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const FrameHeader& header : headers())
    bytes += header.length;
  return bytes;
}

std::size_t FrameBatch::pinned_bytes() const noexcept {
  return empty() ? 0 : storage_->block->capacity();
}

const BlockPtr& FrameBatch::block() const noexcept {
  static const BlockPtr none;
  return storage_ ? storage_->block : none;
}

} // namespace datastream
