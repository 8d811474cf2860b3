#pragma once
/// The unit that flows from the mux to subscribers, stores and wires.

#include <datastream/model/block.hpp>
#include <datastream/model/frame.hpp>
#include <datastream/model/ids.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace datastream {

/// Where one frame's payload lies in its batch's block. Also its form on CAF's wire.
struct FrameHeader {
  Position position;
  ChannelId channel;
  std::uint32_t offset = 0; ///< bytes from the block's begin
  std::uint32_t length = 0; ///< bytes
  std::uint32_t reserved = 0;
};
static_assert(sizeof(FrameHeader) == 24);

/// An immutable run of frames of one stream: an array of headers and one block of payload bytes.
///
/// Copying a batch, or taking a slice of it, costs one reference count and never copies a payload.
/// A slice pins the whole block: `pinned_bytes()` says how much, `compact()` lets go of the rest.
/// Positions usually ascend, but a batch is not a promise of that: stores order by position.
///
/// Thread safety: a batch may be read from all threads at once; each object is assigned by one.
///
///     for (const FrameView& frame : batch)
///       std::cout << frame.position << ' ' << frame.payload.size() << '\n';
class FrameBatch {
public:
  class Iterator;

  /// No frames, of no stream.
  FrameBatch() = default;

  /// Copies single frames into a batch of their own. Throws `std::bad_alloc`, and
  /// `std::length_error` for more than 4 GiB of payload.
  static FrameBatch copy_of(const StreamId& stream, std::span<const FrameView> frames);
  static FrameBatch copy_of(const StreamId& stream, std::span<const Frame> frames);

  /// Puts a batch together that came from a peer. Every payload must lie inside the block, and
  /// together they must not be larger than it: a few bytes must not become gigabytes downstream.
  /// Errors: `malformed_batch` with the index of the first header that breaks this. Throws
  /// `std::bad_alloc`.
  struct Malformed {
    std::size_t header; ///< index of the offending header
  };
  static std::expected<FrameBatch, Malformed>
  from_wire(StreamId stream, std::span<const FrameHeader> headers, BlockPtr block);

  FrameBatch(const FrameBatch&) = default;
  /// Leaves an empty one behind.
  FrameBatch(FrameBatch&& other) noexcept
      : storage_(std::move(other.storage_)), first_(other.first_),
        count_(std::exchange(other.count_, 0)) {}
  FrameBatch& operator=(FrameBatch other) noexcept {
    storage_ = std::move(other.storage_);
    first_ = other.first_;
    count_ = other.count_;
    return *this;
  }
  ~FrameBatch() = default;

  bool empty() const noexcept { return count_ == 0; }
  std::size_t size() const noexcept { return count_; }

  /// The stream of all frames. The batch must not be empty.
  const StreamId& stream() const noexcept;
  /// The same, shared: null for an empty batch.
  const std::shared_ptr<const StreamId>& shared_stream() const noexcept;

  FrameView operator[](std::size_t index) const noexcept;
  FrameView front() const noexcept { return (*this)[0]; }
  FrameView back() const noexcept { return (*this)[count_ - 1]; }
  Iterator begin() const noexcept;
  Iterator end() const noexcept;

  /// Frames `first` to `first + count - 1` of this batch, sharing its memory. Must lie inside.
  FrameBatch slice(std::size_t first, std::size_t count) const noexcept;

  /// The longest prefix of at most so many frames that pins at most so many bytes. It is copied out
  /// of its block where that would pin too much, or more than twice what the prefix needs. Throws
  /// `std::bad_alloc`.
  FrameBatch prefix_within(std::size_t frames, std::size_t bytes) const;

  /// The same frames in a block of just their size. Copies the payloads.
  FrameBatch compact() const;

  /// Bytes of payload in this batch or slice.
  std::size_t payload_bytes() const noexcept;
  /// Bytes of memory that it keeps alive for its payloads.
  std::size_t pinned_bytes() const noexcept;

  std::span<const FrameHeader> headers() const noexcept;
  const BlockPtr& block() const noexcept;

private:
  friend class FrameBatchWriter;
  struct Storage;

  explicit FrameBatch(Storage* storage, std::uint32_t first, std::uint32_t count) noexcept
      : storage_(storage), first_(first), count_(count) {}

  /// Shared ownership of the header array.
  class StoragePtr {
  public:
    StoragePtr() = default;
    explicit StoragePtr(Storage* adopted) noexcept : storage_(adopted) {}
    StoragePtr(const StoragePtr& other) noexcept;
    StoragePtr(StoragePtr&& other) noexcept : storage_(std::exchange(other.storage_, nullptr)) {}
    StoragePtr& operator=(StoragePtr other) noexcept {
      std::swap(storage_, other.storage_);
      return *this;
    }
    ~StoragePtr();
    Storage* operator->() const noexcept { return storage_; }
    explicit operator bool() const noexcept { return storage_ != nullptr; }

  private:
    Storage* storage_ = nullptr;
  };

  StoragePtr storage_;
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
};

/// Memory of a batch: one allocation, the headers behind this struct.
struct FrameBatch::Storage {
  std::atomic<std::uint32_t> references{1};
  std::uint32_t capacity = 0;
  std::shared_ptr<const StreamId> stream;
  BlockPtr block;

  FrameHeader* headers() noexcept { return reinterpret_cast<FrameHeader*>(this + 1); }
};

/// Fills the headers of one new batch. For the parts of the pipe that make batches.
///
///     FrameBatchWriter writer{capacity};
///     writer.append({position, channel, offset, length});
///     FrameBatch batch = std::move(writer).finish(stream, block);
class FrameBatchWriter {
public:
  /// Room for `capacity` headers; throws `std::bad_alloc` when there is no memory.
  explicit FrameBatchWriter(std::size_t capacity);
  ~FrameBatchWriter();
  FrameBatchWriter(FrameBatchWriter&& other) noexcept
      : storage_(std::exchange(other.storage_, nullptr)), count_(other.count_) {}
  FrameBatchWriter& operator=(FrameBatchWriter&&) = delete;

  std::size_t size() const noexcept { return count_; }
  bool full() const noexcept { return count_ == storage_->capacity; }
  /// Must not be full.
  void append(const FrameHeader& header) noexcept { storage_->headers()[count_++] = header; }
  std::span<FrameHeader> headers() noexcept { return {storage_->headers(), count_}; }

  /// The batch of what was appended, whose offsets lie in `block`. The writer is spent.
  FrameBatch finish(std::shared_ptr<const StreamId> stream, BlockPtr block) && noexcept;

private:
  FrameBatch::Storage* storage_;
  std::uint32_t count_ = 0;
};

inline FrameView FrameBatch::operator[](std::size_t index) const noexcept {
  const FrameHeader& header = storage_->headers()[first_ + index];
  return {header.channel,
          header.position,
          std::string_view(storage_->block->data() + header.offset, header.length),
          {}};
}

inline std::span<const FrameHeader> FrameBatch::headers() const noexcept {
  return count_ ? std::span<const FrameHeader>(storage_->headers() + first_, count_)
                : std::span<const FrameHeader>();
}

/// Random access over the frames of a batch. The batch must outlive it.
class FrameBatch::Iterator {
public:
  using iterator_category = std::input_iterator_tag;
  using iterator_concept = std::random_access_iterator_tag;
  using value_type = FrameView;
  using difference_type = std::ptrdiff_t;
  using reference = FrameView;

  Iterator() = default;
  Iterator(const FrameHeader* header, const char* bytes) noexcept
      : header_(header), bytes_(bytes) {}

  FrameView operator*() const noexcept {
    return {header_->channel,
            header_->position,
            std::string_view(bytes_ + header_->offset, header_->length),
            {}};
  }
  FrameView operator[](difference_type n) const noexcept { return *(*this + n); }
  Iterator& operator++() noexcept { return *this += 1; }
  Iterator operator++(int) noexcept { return std::exchange(*this, *this + 1); }
  Iterator& operator--() noexcept { return *this -= 1; }
  Iterator operator--(int) noexcept { return std::exchange(*this, *this - 1); }
  Iterator& operator+=(difference_type n) noexcept {
    header_ += n;
    return *this;
  }
  Iterator& operator-=(difference_type n) noexcept { return *this += -n; }
  friend Iterator operator+(Iterator it, difference_type n) noexcept { return it += n; }
  friend Iterator operator+(difference_type n, Iterator it) noexcept { return it += n; }
  friend Iterator operator-(Iterator it, difference_type n) noexcept { return it -= n; }
  friend difference_type operator-(Iterator a, Iterator b) noexcept {
    return a.header_ - b.header_;
  }
  friend bool operator==(Iterator a, Iterator b) noexcept { return a.header_ == b.header_; }
  friend auto operator<=>(Iterator a, Iterator b) noexcept { return a.header_ <=> b.header_; }

private:
  const FrameHeader* header_ = nullptr;
  const char* bytes_ = nullptr;
};

inline FrameBatch::Iterator FrameBatch::begin() const noexcept {
  return count_ ? Iterator(storage_->headers() + first_, storage_->block->data()) : Iterator();
}

inline FrameBatch::Iterator FrameBatch::end() const noexcept {
  return begin() + static_cast<std::ptrdiff_t>(count_);
}

} // namespace datastream
