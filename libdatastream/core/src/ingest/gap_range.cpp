#include <datastream/ingest/detail/gap_range.hpp>

#include <bit>

namespace datastream::detail {

GapIterator::GapIterator(const ChunkMap& chunks, std::optional<std::uint64_t> below) noexcept
    : chunks_(&chunks) {
  chunk_ = chunks.begin();
  if (chunk_ == chunks.end())
    return;
  group_ = chunk_->second.groups.data();
  rest_ = group_->present();
  // Without any below it, as if the one in front of the first had been looked at: no gap leads
  // there.
  last_ = below.value_or(base() + static_cast<unsigned>(std::countr_zero(rest_)) - 1);
  find_next();
}

std::uint64_t GapIterator::base() const noexcept {
  return base_of(chunk_->first, group_->number());
}

void GapIterator::find_next() noexcept {
  for (;;) {
    while (rest_ == 0) {
      next_group();
      if (!group_)
        return;
    }
    const auto skipped = static_cast<unsigned>(std::countr_zero(rest_));
    const auto length = static_cast<unsigned>(std::countr_one(rest_ >> skipped));
    const std::uint64_t run = base() + skipped;
    gap_ = {Position{last_ + 1}, Position{run - 1}};
    const bool found = run != last_ + 1;
    last_ = run + (length - 1);
    // Two steps: a run of 64 would shift by the whole width.
    rest_ = rest_ >> (skipped + length - 1) >> 1 << 1 << (skipped + length - 1);
    if (found)
      return;
  }
}

void GapIterator::next_group() noexcept {
  if (group_ != &chunk_->second.groups.back()) {
    ++group_;
  } else if (++chunk_ != chunks_->end()) {
    group_ = chunk_->second.groups.data();
  } else {
    group_ = nullptr;
    return;
  }
  rest_ = group_->present();
}

} // namespace datastream::detail
