#pragma once
/// Derives the gaps of a stored stream: `StoredStream::gaps`.

#include <datastream/ingest/detail/frame_index.hpp>
#include <datastream/ingest/gap.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <ranges>

namespace datastream::detail {

/// Walks runs of stored positions, bitmap by bitmap: the cost is one step a group and one a gap,
/// however wide the gaps are. Any change of the stream invalidates it.
class GapIterator {
public:
  using iterator_concept = std::forward_iterator_tag;
  using iterator_category = std::input_iterator_tag; // its reference is a value
  using value_type = GapSpan;
  using difference_type = std::ptrdiff_t;
  using reference = GapSpan;

  GapIterator() = default;
  /// `below`: the highest position that was stored once, and lies below all that are stored now.
  GapIterator(const ChunkMap& chunks, std::optional<std::uint64_t> below) noexcept;

  GapSpan operator*() const noexcept { return gap_; }
  GapIterator& operator++() noexcept {
    find_next();
    return *this;
  }
  GapIterator operator++(int) noexcept {
    GapIterator before = *this;
    find_next();
    return before;
  }
  friend bool operator==(const GapIterator& a, const GapIterator& b) noexcept {
    return a.group_ == b.group_ && a.rest_ == b.rest_;
  }
  friend bool operator==(const GapIterator& it, std::default_sentinel_t) noexcept {
    return it.group_ == nullptr;
  }

private:
  std::uint64_t base() const noexcept;
  void find_next() noexcept;
  void next_group() noexcept;

  const ChunkMap* chunks_ = nullptr;
  ChunkMap::const_iterator chunk_;
  const FrameGroup* group_ = nullptr; ///< null at the end
  std::uint64_t rest_ = 0;            ///< present positions of the group not looked at yet
  std::uint64_t last_ = 0;            ///< the highest position looked at
  GapSpan gap_;
};

using GapRange = std::ranges::subrange<GapIterator, std::default_sentinel_t>;

} // namespace datastream::detail
