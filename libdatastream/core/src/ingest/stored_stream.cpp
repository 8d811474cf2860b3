#include <datastream/ingest/stored_stream.hpp>

#include <algorithm>
#include <cassert>
#include <limits>
#include <new>
#include <span>
#include <string_view>
#include <utility>

namespace datastream {
namespace {

/// Below this many bytes a copy costs less, in time and in memory, than a block of its own.
constexpr std::size_t keep_bytes_min = 1024;

/// Blocks may take so many times the payload bytes stored, and so much besides: see `Retention`.
/// Copying payloads together leaves at most twice as much, and one block of 2 MiB. So it is not due
/// again before as many bytes have arrived as it has copied, and as the index that it has walked.
constexpr std::size_t spread_max = 4;
constexpr std::size_t spare_bytes = 4U << 20U;

} // namespace

StoredStream::StoredStream(StreamId id, Retention retention)
    : id_(std::move(id)), retention_(retention) {}

std::size_t StoredStream::memory_bytes() const noexcept {
  return sizeof(*this) + index_.memory_bytes() + memory_.memory_bytes();
}

StoredStream::Accepted StoredStream::refuse(const FrameView& frame,
                                            const detail::FrameGroup* group) noexcept {
  if (is_evicted(frame.position)) {
    ++late_;
    return Accepted::late_for_evicted;
  }
  const detail::StoredEntry& stored = *group->entry(detail::bit_of(frame.position.value));
  if (stored.channel == frame.channel.value &&
      std::string_view(stored.data, stored.length) == frame.payload) {
    ++duplicates_;
    return Accepted::duplicate;
  }
  ++conflicts_;
  return Accepted::conflict;
}

StoredStream::Accepted StoredStream::accept_copy(const FrameView& frame) {
  assert(frame.payload.size() <= std::numeric_limits<std::uint32_t>::max());
  const std::uint64_t position = frame.position.value;
  const std::size_t bytes = frame.payload.size();
  detail::FrameGroup* const group = index_.find_group(position);
  if (is_evicted(frame.position) || (group && group->contains(detail::bit_of(position))))
    return refuse(frame, group);
  char* const copy = memory_.take(bytes);
  try {
    index_.insert(group, position, {copy, static_cast<std::uint32_t>(bytes), frame.channel.value});
  } catch (...) {
    memory_.release(copy, bytes);
    throw;
  }
  payload_bytes_ += bytes;
  std::copy_n(frame.payload.data(), bytes, copy);
  return Accepted::stored;
}

StoredStream::Accepted StoredStream::accept(const FrameView& frame) {
  const std::size_t bytes = frame.payload.size();
  // What nearly every frame is: new, with a slot and room at hand, and within all bounds.
  const detail::StoredEntry entry{memory_.next(), static_cast<std::uint32_t>(bytes),
                                  frame.channel.value};
  if (bytes <= memory_.room() && size() < retention_.frames &&
      payload_bytes_ + bytes <= retention_.bytes && !is_evicted(frame.position) &&
      index_.try_insert(frame.position.value, entry)) [[likely]] {
    payload_bytes_ += bytes;
    std::copy_n(frame.payload.data(), bytes, memory_.take(bytes));
    return Accepted::stored;
  }
  const Accepted accepted = accept_copy(frame);
  evict();
  return accepted;
}

std::size_t StoredStream::accept(const FrameBatch& batch) {
  if (batch.empty())
    return 0;
  assert(batch.stream() == id_);
  const std::uint64_t before = stored_ever();
  const std::size_t payload = batch.payload_bytes();
  const bool dense = payload >= keep_bytes_min && payload >= batch.pinned_bytes() / 2;
  if (detail::PayloadMemory::Pin* pin = dense ? memory_.keep(batch.block()) : nullptr) {
    try {
      accept_by_reference(batch, *pin);
      // Most of it may have been here already.
      if (pin->bytes < batch.pinned_bytes() / 2)
        copy_out(batch, *pin);
    } catch (...) {
      memory_.drop_if_unused(*pin);
      throw;
    }
    memory_.drop_if_unused(*pin);
  } else {
    for (const FrameView& frame : batch)
      accept_copy(frame);
  }
  evict();
  return stored_ever() - before;
}

void StoredStream::accept_by_reference(const FrameBatch& batch, detail::PayloadMemory::Pin& pin) {
  const std::span<const FrameHeader> headers = batch.headers();
  const char* const data = batch.block()->data();
  const std::uint64_t floor = evicted_frames_ == 0 ? 0 : evicted_last_.value + 1;
  for (std::size_t i = 0; i < headers.size();) {
    detail::StoredRun run;
    if (!is_evicted(headers[i].position))
      run = index_.insert_run(headers.subspan(i), data, floor);
    if (run.frames != 0) {
      pin.bytes += run.bytes;
      payload_bytes_ += run.bytes;
      i += run.frames;
    } else {
      refuse(batch[i], index_.find_group(headers[i].position.value));
      ++i;
    }
  }
}

void StoredStream::copy_out(const FrameBatch& batch, detail::PayloadMemory::Pin& pin) {
  for (const FrameView& frame : batch) {
    detail::StoredEntry* entry = index_.find(frame.position.value);
    if (!entry || entry->data != frame.payload.data() || entry->length != frame.payload.size())
      continue;
    char* const copy = memory_.take(entry->length);
    std::copy_n(entry->data, entry->length, copy);
    entry->data = copy;
    pin.bytes -= entry->length;
  }
}

void StoredStream::evict() noexcept {
  const std::uint64_t before = evicted_frames_;
  while (size() > retention_.frames || payload_bytes_ > retention_.bytes) {
    const auto [position, entry] = index_.evict_lowest();
    memory_.release(entry.data, entry.length);
    payload_bytes_ -= entry.length;
    if (evicted_frames_++ == 0)
      evicted_first_ = {position};
    evicted_bytes_ += entry.length;
    evicted_last_ = {position};
  }
  if (evicted_frames_ != before &&
      memory_.memory_bytes() > spread_max * payload_bytes_ + index_.memory_bytes() + spare_bytes)
    copy_together();
}

/// Lets go of blocks that the payloads left in them use less than half of.
void StoredStream::copy_together() noexcept {
  try {
    memory_.open_another();
    index_.each_entry([this](detail::StoredEntry& entry) {
      if (entry.length == 0 || !memory_.lies_sparse(entry.data))
        return;
      char* const copy = memory_.take(entry.length);
      std::copy_n(entry.data, entry.length, copy);
      memory_.release(entry.data, entry.length);
      entry.data = copy;
    });
  } catch (const std::bad_alloc&) {
    // What was not copied stays where it is; the next eviction tries again.
  }
}

std::optional<FrameView> StoredStream::at(Position position) const noexcept {
  const detail::StoredEntry* entry = index_.find(position.value);
  if (!entry)
    return std::nullopt;
  return FrameView{ChannelId{entry->channel}, position, {entry->data, entry->length}, {}};
}

std::optional<Position> StoredStream::first() const noexcept {
  const auto position = index_.first();
  return position ? std::optional(Position{*position}) : std::nullopt;
}

std::optional<Position> StoredStream::last() const noexcept {
  const auto position = index_.last();
  return position ? std::optional(Position{*position}) : std::nullopt;
}

StoredStream::Frames StoredStream::frames() const noexcept {
  return {Iterator::begin(index_.chunks()), Iterator::end(index_.chunks())};
}

StoredStream::Frames StoredStream::frames_from(Position position) const noexcept {
  return {Iterator::lower_bound(index_.chunks(), position.value), Iterator::end(index_.chunks())};
}

StoredStream::Gaps StoredStream::gaps() const noexcept {
  const auto below = evicted_frames_ != 0 ? std::optional(evicted_last_.value) : std::nullopt;
  return {detail::GapIterator(index_.chunks(), below), std::default_sentinel};
}

std::optional<EvictedRange> StoredStream::evicted() const noexcept {
  if (evicted_frames_ == 0)
    return std::nullopt;
  const bool all = evicted_last_.value == std::numeric_limits<std::uint64_t>::max();
  return EvictedRange{{evicted_last_.value + (all ? 0 : 1)},
                      evicted_frames_,
                      evicted_bytes_,
                      evicted_last_.value - evicted_first_.value - (evicted_frames_ - 1)};
}

void StoredStream::expect_from(Position first) noexcept {
  from_ = from_ ? std::min(*from_, first) : first;
}

IngestLedger StoredStream::ledger() const {
  IngestLedger ledger;
  ledger.stream = id_;
  ledger.arrived = stored_ever() + duplicates_ + conflicts_ + late_;
  ledger.stored = stored_ever();
  ledger.duplicates = duplicates_;
  ledger.conflicts = conflicts_;
  ledger.late_for_evicted = late_;
  ledger.evicted = evicted_frames_;
  ledger.from = from_;
  ledger.assigned = assigned_;
  if (stored_ever() != 0) {
    ledger.lowest_stored = evicted_frames_ != 0 ? evicted_first_ : *first();
    ledger.highest_stored = empty() ? evicted_last_ : *last();
    // A frame below the first one that was offered was offered all the same.
    if (from_)
      ledger.from = std::min(*from_, *ledger.lowest_stored);
  }
  return ledger;
}

} // namespace datastream
