#include "stored_positions.hpp"

#include "format/checksum.hpp"

#include <algorithm>
#include <utility>

namespace datastream {

namespace {

bool has(const PositionPage& page, std::uint32_t index) {
  return (page[index / 64] >> (index % 64) & 1U) != 0;
}

void add(PositionPage& page, std::uint32_t index) {
  page[index / 64] |= std::uint64_t{1} << (index % 64);
}

} // namespace

StoredPositions::StoredPositions(std::size_t compared_frames)
    : runs_max_(std::max<std::size_t>(1, compared_frames / positions_per_run)) {}

StoredPositions::~StoredPositions() = default;

void StoredPositions::reset(const Metadata* metadata) noexcept {
  metadata_ = metadata;
  recent_ = nullptr;
  changed_.clear();
  used_.clear();
  pages_.clear();
  runs_ = 0;
}

std::expected<StoredPositions::Page*, ArchiveError> StoredPositions::page(const StreamId& stream,
                                                                          std::uint64_t number) {
  if (recent_ && recent_->key->page == number && recent_->key->stream == stream)
    return recent_;
  Key key{stream, number};
  if (const auto known = pages_.find(key); known != pages_.end()) {
    recent_ = &known->second;
    used_.splice(used_.end(), used_, recent_->used);
    return recent_;
  }
  const auto stored = metadata_->positions(stream, number);
  if (!stored)
    return std::unexpected(stored.error());
  trim();
  std::list<Page*> node(1);
  const auto added = pages_.try_emplace(std::move(key)).first;
  Page& page = added->second;
  page.key = &added->first;
  page.stored = *stored;
  page.used = node.begin();
  node.front() = &page;
  used_.splice(used_.end(), node);
  runs_ += runs_of(page);
  recent_ = &page;
  return &page;
}

void StoredPositions::trim() noexcept {
  // A page that the index does not have in this state cannot be read back from it.
  while (runs_ >= runs_max_ && !used_.empty() && used_.front()->changed <= committed_) {
    Page* const oldest = used_.front();
    if (oldest == recent_)
      recent_ = nullptr;
    runs_ -= runs_of(*oldest);
    used_.pop_front();
    pages_.erase(pages_.find(*oldest->key));
  }
}

std::expected<StoredPositions::Place, ArchiveError> StoredPositions::look(const StreamId& stream,
                                                                          const FrameView& frame) {
  const auto page = this->page(stream, frame.position.value / positions_per_page);
  if (!page)
    return std::unexpected(page.error());
  Place place;
  place.page = *page;
  place.index = static_cast<std::uint32_t>(frame.position.value % positions_per_page);
  place.fingerprint = format::fingerprint(frame.channel.value, frame.payload);
  if (!has((*page)->stored, place.index)) {
    place.seen = Seen::fresh;
    // What `mark` needs, so that it cannot fail.
    auto& run = (*page)->fingerprints[place.index / positions_per_run];
    if (!run) {
      run = std::make_unique_for_overwrite<Fingerprints>();
      runs_ -= runs_of(**page);
      ++(*page)->runs;
      runs_ += runs_of(**page);
    }
    if (changed_.size() == changed_.capacity())
      changed_.reserve(std::max<std::size_t>(64, 2 * changed_.size()));
  } else if (!has((*page)->remembered, place.index)) {
    place.seen = Seen::unverified;
  } else {
    const Fingerprints& run = *(*page)->fingerprints[place.index / positions_per_run];
    place.seen = run[place.index % positions_per_run] == place.fingerprint ? Seen::duplicate
                                                                           : Seen::conflict;
  }
  return place;
}

void StoredPositions::mark(const Place& place) noexcept {
  Page& page = *place.page;
  add(page.stored, place.index);
  add(page.remembered, place.index);
  (*page.fingerprints[place.index / positions_per_run])[place.index % positions_per_run] =
      place.fingerprint;
  if (page.changed != taken_ + 1) {
    page.changed = taken_ + 1;
    changed_.push_back(&page);
  }
}

StoredPositions::Changes StoredPositions::take_changes() {
  Changes changes;
  changes.pages.reserve(changed_.size());
  for (const Page* page : changed_)
    changes.pages.push_back({page->key->stream, page->key->page, page->stored});
  changed_.clear();
  changes.number = ++taken_;
  return changes;
}

} // namespace datastream
