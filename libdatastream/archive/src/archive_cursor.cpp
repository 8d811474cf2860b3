#include "archive_cursor_impl.hpp"
#include "read_block.hpp"

#include <datastream/defaults.hpp>

#include <algorithm>
#include <thread>
#include <utility>

namespace datastream {

using namespace format;

ArchiveCursor::Impl::Impl(std::shared_ptr<SegmentSet> set, SnapshotPtr snapshot,
                          std::uint64_t position, ReadFilter filter)
    : set_(std::move(set)), snapshot_(std::move(snapshot)), filter_(std::move(filter)),
      position_(position) {
  learn_names();
}

/// All that are declared by now, before a frame is given: it may lie before its declaration.
void ArchiveCursor::Impl::learn_names() {
  if (!filter_.has_names())
    return;
  names_read_ = set_->each_descriptors(
      *snapshot_, names_read_, [&](const Descriptors& descriptors) { filter_.learn(descriptors); },
      [&](const ArchiveError&, std::uint64_t segment) { filter_.lose_names(segment); });
}

/// To the first entry of a segment.
std::optional<ArchiveError> ArchiveCursor::Impl::enter(std::size_t index) {
  const std::shared_ptr<Segment>& segment = snapshot_->segments[index].file;
  auto file = segment->file();
  if (!file)
    return costing(std::move(file.error()), snapshot_->begin_of(index),
                   snapshot_->begin_of(index + 1));
  auto loaded = set_->index(*snapshot_, index);
  if (!loaded)
    return costing(std::move(loaded.error()), snapshot_->begin_of(index),
                   snapshot_->begin_of(index + 1));
  segment_ = segment;
  file_ = std::move(*file);
  index_ = std::move(*loaded);
  ordinal_ = 0;
  told_gap_.reset();
  return std::nullopt;
}

/// What lies before the next entry and cannot be read, if it is still to be read.
std::optional<ArchiveError> ArchiveCursor::Impl::gap_before_next() {
  auto gap = index_->gap_before(ordinal_);
  if (!gap)
    return std::nullopt;
  if (const auto& lost = gap->why.lost)
    return lost->last.value >= position_ ? std::optional(std::move(gap->why)) : std::nullopt;
  // Only declarations: to be told once, and passed.
  if (std::exchange(told_gap_, ordinal_) == ordinal_)
    return std::nullopt;
  filter_.lose_names(segment_->number());
  return std::move(gap->why);
}

/// The next entry; null: there is nothing more for now.
std::expected<const IndexEntry*, ArchiveError> ArchiveCursor::Impl::find_entry() {
  for (;;) {
    const auto& segments = snapshot_->segments;
    if (!segment_) {
      const auto index = snapshot_->find(position_);
      if (!index) {
        auto fault = snapshot_->fault_before();
        if (concerns(fault, snapshot_->tip.first_sequence))
          return std::unexpected(std::move(*fault));
        return nullptr;
      }
      if (auto error = enter(*index))
        return std::unexpected(std::move(*error));
    }
    if (ordinal_ < index_->size()) {
      if (auto error = gap_before_next())
        return std::unexpected(std::move(*error));
      return &index_->entry(ordinal_);
    }

    const auto at =
        std::ranges::lower_bound(segments, segment_->number(), {}, &Snapshot::Listed::number);
    if (at == segments.end() || at->file != segment_) { // it was taken away
      segment_.reset();
      continue;
    }
    const auto index = static_cast<std::size_t>(at - segments.begin());
    if (const auto loaded = set_->index(*snapshot_, index); !loaded)
      return std::unexpected(loaded.error());
    if (ordinal_ < index_->size())
      continue;
    SegmentIndex::State state = index_->state();
    auto fault = snapshot_->fault_behind(index, state.end.sequence, std::move(state.stop));
    if (concerns(fault, state.end.sequence))
      return std::unexpected(std::move(*fault));
    std::size_t next = index + 1;
    while (next < segments.size() && !segments[next].header)
      ++next;
    if (next == segments.size())
      return nullptr;
    if (auto error = enter(next))
      return std::unexpected(std::move(*error));
  }
}

std::expected<std::optional<ArchivedBatch>, ArchiveError>
ArchiveCursor::Impl::read_descriptors(const IndexEntry& entry) {
  auto descriptors = datastream::read_descriptors(*file_, entry);
  if (!descriptors) {
    // Frames lack names now, and are there all the same.
    ++ordinal_;
    filter_.lose_names(segment_->number());
    return std::unexpected(std::move(descriptors.error()));
  }
  filter_.learn(*descriptors);
  filter_.pick(*descriptors);
  ++ordinal_;
  if (descriptors->empty())
    return std::nullopt;
  ArchivedBatch batch;
  batch.declarations = std::move(descriptors->declarations);
  batch.starts = std::move(descriptors->starts);
  batch.ends = std::move(descriptors->ends);
  batch.first = {position_};
  return batch;
}

std::optional<ArchiveError> ArchiveCursor::Impl::read_block(const IndexEntry& entry) {
  if (filter_.lacks_names(entry.directory, segment_->number()))
    return costing(damaged(file_->path(), entry.offset,
                           {"the names of channels that the block has cannot be read"}),
                   entry.header.first_sequence, entry.header.end_sequence());
  if (filter_.wants(entry.directory)) {
    const auto block = read_frames(*file_, entry);
    if (!block)
      return block.error();
    std::vector<Pending> pending;
    std::uint64_t first = entry.header.first_sequence;
    for (std::size_t i = 0; i < block->batches.size(); ++i) {
      const FrameBatch& batch = block->batches[i];
      if (auto cut = filter_.cut(batch, entry.directory.batches[i], first, position_))
        pending.push_back({std::move(*cut), first + batch.size()});
      first += batch.size();
    }
    std::ranges::reverse(pending);
    pending_ = std::move(pending);
  }
  if (pending_.empty())
    position_ = entry.header.end_sequence();
  else
    pending_.front().end = entry.header.end_sequence();
  ++ordinal_;
  return std::nullopt;
}

/// Looks at what is durable now. Returns whether that is something else than before.
std::expected<bool, ArchiveError> ArchiveCursor::Impl::refresh() {
  auto snapshot = set_->refresh(failed_ ? SegmentSet::Look::at_all : SegmentSet::Look::at_tip);
  if (!snapshot)
    return std::unexpected(std::move(snapshot.error()));
  const bool changed = snapshot_ != *snapshot;
  snapshot_ = std::move(*snapshot);
  const bool again = failed_ && filter_.names_lost();
  if (again) {
    filter_.find_lost_names();
    names_read_ = {};
  }
  if (changed || again)
    learn_names();
  failed_ = false;
  return changed;
}

std::expected<std::optional<ArchivedBatch>, ArchiveError> ArchiveCursor::Impl::next() {
  if (failed_)
    if (const auto refreshed = refresh(); !refreshed)
      return std::unexpected(refreshed.error());
  auto batch = find_next();
  failed_ = !batch;
  return batch;
}

std::expected<std::optional<ArchivedBatch>, ArchiveError> ArchiveCursor::Impl::find_next() {
  for (;;) {
    if (!pending_.empty()) {
      Pending given = std::move(pending_.back());
      pending_.pop_back();
      position_ = given.end;
      return std::move(given.batch);
    }
    const auto found = find_entry();
    if (!found)
      return std::unexpected(found.error());
    if (!*found) {
      const auto refreshed = refresh();
      if (!refreshed)
        return std::unexpected(refreshed.error());
      if (!*refreshed)
        return std::nullopt;
      continue;
    }
    const IndexEntry& entry = **found;
    if (entry.header.kind == BlockKind::descriptors) {
      auto batch = read_descriptors(entry);
      if (!batch || *batch)
        return batch;
    } else if (entry.header.end_sequence() <= position_) {
      ++ordinal_;
    } else if (auto error = read_block(entry)) {
      return std::unexpected(std::move(*error));
    }
  }
}

ArchiveCursor::ArchiveCursor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ArchiveCursor::ArchiveCursor(ArchiveCursor&&) noexcept = default;
ArchiveCursor& ArchiveCursor::operator=(ArchiveCursor&&) noexcept = default;
ArchiveCursor::~ArchiveCursor() = default;

std::expected<std::optional<ArchivedBatch>, ArchiveError> ArchiveCursor::next() {
  return impl_->next();
}

std::expected<std::optional<ArchivedBatch>, ArchiveError>
ArchiveCursor::next(std::chrono::milliseconds timeout) {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    auto batch = impl_->next();
    if (!batch || *batch)
      return batch;
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begin);
    if (waited >= timeout)
      return std::nullopt;
    std::this_thread::sleep_for(std::min(defaults::archive_poll, timeout - waited));
  }
}

Sequence ArchiveCursor::position() const noexcept {
  return impl_->position();
}

} // namespace datastream
