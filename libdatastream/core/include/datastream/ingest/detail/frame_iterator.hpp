#pragma once
/// Walks a stored stream in position order: `StoredStream::frames`.

#include <datastream/ingest/detail/frame_index.hpp>
#include <datastream/model/frame.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace datastream::detail {

/// Bidirectional. Yields views by value; any change of the stream invalidates it.
class FrameIterator {
public:
  using iterator_category = std::input_iterator_tag; // its reference is a value
  using iterator_concept = std::bidirectional_iterator_tag;
  using value_type = FrameView;
  using difference_type = std::ptrdiff_t;
  using reference = FrameView;

  FrameIterator() = default;
  static FrameIterator begin(const ChunkMap& chunks) noexcept;
  static FrameIterator end(const ChunkMap& chunks) noexcept;
  /// At the first stored position that is not below `position`.
  static FrameIterator lower_bound(const ChunkMap& chunks, std::uint64_t position) noexcept;

  FrameView operator*() const noexcept {
    return {ChannelId{entry_->channel}, position(), {entry_->data, entry_->length}, {}};
  }
  /// That of the frame. Looks at the bitmap only, and not at the frame.
  Position position() const noexcept {
    return {base_ + static_cast<unsigned>(std::countr_zero(rest_))};
  }

  FrameIterator& operator++() noexcept {
    const int bit = std::countr_zero(rest_);
    rest_ &= rest_ - 1;
    if (rest_ == 0)
      next_group();
    else
      entry_ += group_->spread() ? std::countr_zero(rest_) - bit : 1;
    return *this;
  }
  FrameIterator operator++(int) noexcept {
    FrameIterator before = *this;
    ++*this;
    return before;
  }

  FrameIterator& operator--() noexcept {
    const std::uint64_t before = entry_ ? group_->present() & ~rest_ : 0;
    if (before == 0) {
      previous_group();
    } else {
      const auto bit = static_cast<unsigned>(std::bit_width(before)) - 1;
      entry_ -= group_->spread() ? std::countr_zero(rest_) - bit : 1;
      rest_ |= std::uint64_t{1} << bit;
    }
    return *this;
  }
  FrameIterator operator--(int) noexcept {
    FrameIterator after = *this;
    --*this;
    return after;
  }

  friend bool operator==(const FrameIterator& a, const FrameIterator& b) noexcept {
    return a.entry_ == b.entry_;
  }
  /// At the end.
  friend bool operator==(const FrameIterator& it, std::default_sentinel_t) noexcept {
    return it.entry_ == nullptr;
  }

private:
  /// To the first position of `group`, which belongs to `chunk_`.
  void enter(const FrameGroup* group) noexcept;
  void next_group() noexcept;
  void previous_group() noexcept;

  const ChunkMap* chunks_ = nullptr;
  ChunkMap::const_iterator chunk_;
  const FrameGroup* group_ = nullptr;
  const StoredEntry* entry_ = nullptr; ///< null at the end
  std::uint64_t base_ = 0;             ///< first position of the group
  std::uint64_t rest_ = 0;             ///< present positions of the group from this one on
};

} // namespace datastream::detail
