#include "find_chain.hpp"

#include "format/limits.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace datastream {

using namespace format;

namespace {

/// Read at once while one looks for what might be a block.
constexpr std::size_t window_bytes = 256U << 10U;

/// What is read; nothing: it is damaged.
template <class T>
using Read = std::expected<std::optional<T>, ArchiveError>;

template <class T>
Read<T> unless_damaged(std::expected<T, ArchiveError> read) {
  if (read)
    return std::optional<T>(std::move(*read));
  if (read.error().kind == ArchiveError::Kind::damaged)
    return std::nullopt;
  return std::unexpected(std::move(read.error()));
}

class ChainSearch {
public:
  ChainSearch(const SegmentFile& file, std::uint64_t limit, const SegmentEnd& end,
              const std::optional<Trailer>& trailer)
      : file_(file), limit_(limit), end_offset_(trailer ? trailer->footer_offset : limit),
        end_sequence_(trailer ? trailer->end_sequence : end.sequence),
        is_exact_(trailer.has_value() || end.offset.has_value()) {}

  Read<BlockPlace> run(const BlockPlace& damaged);

private:
  std::expected<std::optional<std::uint64_t>, ArchiveError> find_magic(std::uint64_t offset);
  std::expected<bool, ArchiveError> reaches_end(const IndexEntry& first);
  Read<BlockPlace> first_with_body(IndexEntry entry);

  bool may_be_first(const BlockHeader& header, const BlockPlace& damaged) const {
    return header.kind != BlockKind::footer && header.first_sequence >= damaged.sequence &&
           header.end_sequence() <= end_sequence_;
  }
  bool is_end_sequence(std::uint64_t sequence) const {
    return !is_exact_ || sequence == end_sequence_;
  }
  bool is_end(const BlockPlace& place) const {
    return place.offset == end_offset_ && is_end_sequence(place.sequence);
  }
  bool is_footer_at_end(const IndexEntry& entry) const {
    return entry.header.kind == BlockKind::footer &&
           behind(entry).offset + trailer_bytes == limit_ &&
           is_end_sequence(entry.header.first_sequence);
  }
  /// Whether a block would be in two segments.
  bool straddles_end(const BlockHeader& header) const {
    return header.first_sequence < end_sequence_ && header.end_sequence() > end_sequence_;
  }

  const SegmentFile& file_;
  const std::uint64_t limit_;
  const std::uint64_t end_offset_;
  const std::uint64_t end_sequence_;
  const bool is_exact_; ///< or else blocks may follow that were never acknowledged
  /// Offsets of blocks that do not lead to the end, or have no whole body before it. None is passed
  /// twice, so that the search takes time in proportion to what it searches.
  std::unordered_set<std::uint64_t> astray_;
  std::vector<char> window_; ///< what was read last
  std::uint64_t window_offset_ = 0;
};

/// The first offset from this one on at which bytes look like a block's beginning.
std::expected<std::optional<std::uint64_t>, ArchiveError>
ChainSearch::find_magic(std::uint64_t offset) {
  while (offset < limit_) {
    const std::string_view bytes(window_.data(), window_.size());
    if (offset >= window_offset_ && offset - window_offset_ < bytes.size()) {
      const std::size_t found = bytes.find(block_magic, offset - window_offset_);
      if (found != std::string_view::npos)
        return window_offset_ + found;
      // One may lie across the window's end.
      offset = std::max(offset, window_offset_ + bytes.size() - (block_magic.size() - 1));
    }
    window_.resize(std::min<std::uint64_t>(window_bytes, limit_ - offset));
    const auto count = file_.read_bytes(offset, window_);
    if (!count)
      return std::unexpected(count.error());
    window_.resize(*count);
    window_offset_ = offset;
    if (*count < block_magic.size())
      break;
  }
  return std::nullopt;
}

std::expected<bool, ArchiveError> ChainSearch::reaches_end(const IndexEntry& first) {
  std::vector<std::uint64_t> passed{first.offset};
  for (BlockPlace place = behind(first); !is_end(place);) {
    std::optional<IndexEntry> next;
    if (!astray_.contains(place.offset)) {
      auto read = unless_damaged(file_.read_entry(place, limit_));
      if (!read)
        return std::unexpected(std::move(read.error()));
      next = std::move(*read);
    }
    if (next && is_footer_at_end(*next))
      return true;
    if (!next || next->header.kind == BlockKind::footer || straddles_end(next->header)) {
      astray_.insert(passed.begin(), passed.end());
      return false;
    }
    passed.push_back(next->offset);
    place = behind(*next);
  }
  return true;
}

/// Of a block that leads to the end, and those behind it.
Read<BlockPlace> ChainSearch::first_with_body(IndexEntry entry) {
  for (;;) {
    const auto body = unless_damaged(file_.read_body(entry));
    if (!body)
      return std::unexpected(body.error());
    if (*body)
      return BlockPlace{entry.offset, entry.header.first_sequence, entry.header.previous};
    astray_.insert(entry.offset);
    const BlockPlace place = behind(entry);
    if (is_end(place))
      return std::nullopt;
    auto next = unless_damaged(file_.read_entry(place, limit_));
    if (!next)
      return std::unexpected(std::move(next.error()));
    if (!*next || (*next)->header.kind == BlockKind::footer ||
        (*next)->header.end_sequence() > end_sequence_)
      return std::nullopt;
    entry = std::move(**next);
  }
}

Read<BlockPlace> ChainSearch::run(const BlockPlace& damaged) {
  for (std::uint64_t offset = damaged.offset + 1;; ++offset) {
    const auto found = find_magic(offset);
    if (!found)
      return std::unexpected(found.error());
    if (!*found)
      return std::nullopt;
    offset = **found;
    if (astray_.contains(offset))
      continue;
    auto entry = unless_damaged(file_.read_entry_at(offset, limit_));
    if (!entry)
      return std::unexpected(std::move(entry.error()));
    if (!*entry || !may_be_first((*entry)->header, damaged))
      continue;
    const auto reaches = reaches_end(**entry);
    if (!reaches)
      return std::unexpected(reaches.error());
    if (!*reaches)
      continue;
    auto place = first_with_body(std::move(**entry));
    if (!place || *place)
      return place;
  }
}

} // namespace

std::expected<std::optional<BlockPlace>, ArchiveError> find_chain(const SegmentFile& file,
                                                                  const BlockPlace& damaged,
                                                                  std::uint64_t limit,
                                                                  const SegmentEnd& end) {
  const auto trailer = unless_damaged(file.read_trailer(limit));
  if (!trailer)
    return std::unexpected(trailer.error());
  return ChainSearch(file, limit, end, trailer->value_or(std::nullopt)).run(damaged);
}

} // namespace datastream
