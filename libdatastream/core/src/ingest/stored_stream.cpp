#include <datastream/ingest/stored_stream.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

namespace datastream {
namespace {

/// Below this many bytes a copy costs less, in time and in memory, than a block of its own.
constexpr std::size_t keep_bytes_min = 1024;

} // namespace

StoredStream::StoredStream(StreamId id, Retention retention)
    : id_(std::move(id)), retention_(retention) {}

std::size_t StoredStream::memory_bytes() const noexcept {
  return sizeof(*this) + index_.memory_bytes() + memory_.memory_bytes();
}

inline StoredStream::Accepted StoredStream::judge(const FrameView& frame) noexcept {
  if (is_evicted(frame.position))
    return Accepted::late_for_evicted;
  if (stored_ == 0 || frame.position > highest_stored_)
    return Accepted::stored;
  const detail::StoredEntry* const stored = index_.find(frame.position.value);
  if (!stored)
    return Accepted::stored;
  const bool same = stored->channel == frame.channel.value &&
                    std::string_view(stored->data, stored->length) == frame.payload;
  return same ? Accepted::duplicate : Accepted::conflict;
}

void StoredStream::note_refused(Accepted why) noexcept {
  ++arrived_;
  if (why == Accepted::duplicate)
    ++duplicates_;
  else if (why == Accepted::conflict)
    ++conflicts_;
  else
    ++late_;
}

inline void StoredStream::note_stored(std::size_t frames, std::size_t bytes, Position lowest,
                                      Position highest) noexcept {
  lowest_stored_ = stored_ == 0 ? lowest : std::min(lowest_stored_, lowest);
  highest_stored_ = stored_ == 0 ? highest : std::max(highest_stored_, highest);
  arrived_ += frames;
  stored_ += frames;
  size_ += frames;
  payload_bytes_ += bytes;
}

StoredStream::Accepted StoredStream::accept_copy(const FrameView& frame) {
  assert(frame.payload.size() <= std::numeric_limits<std::uint32_t>::max());
  if (const Accepted accepted = judge(frame); accepted != Accepted::stored) {
    note_refused(accepted);
    return accepted;
  }
  const std::size_t bytes = frame.payload.size();
  const char* const copy = memory_.copy(frame.payload);
  try {
    index_.insert(frame.position.value,
                  {copy, static_cast<std::uint32_t>(bytes), frame.channel.value});
  } catch (...) {
    memory_.release(copy, bytes);
    throw;
  }
  note_stored(1, bytes, frame.position, frame.position);
  return Accepted::stored;
}

StoredStream::Accepted StoredStream::accept(const FrameView& frame) {
  const Accepted accepted = accept_copy(frame);
  evict();
  return accepted;
}

std::size_t StoredStream::accept(const FrameBatch& batch) {
  if (batch.empty())
    return 0;
  assert(batch.stream() == id_);
  const std::uint64_t before = stored_;
  const std::size_t payload = batch.payload_bytes();
  const bool dense = payload >= keep_bytes_min && payload >= batch.pinned_bytes() / 2;
  if (detail::PayloadMemory::Pin* pin = dense ? memory_.keep(batch.block()) : nullptr) {
    accept_by_reference(batch, *pin);
    // Most of it may have been here already.
    if (pin->bytes < batch.pinned_bytes() / 2)
      copy_out(batch, *pin);
    memory_.drop_if_unused(*pin);
  } else {
    for (const FrameView& frame : batch)
      accept_copy(frame);
  }
  evict();
  return stored_ - before;
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
      note_stored(run.frames, run.bytes, run.lowest, run.highest);
      i += run.frames;
    } else {
      note_refused(judge(batch[i]));
      ++i;
    }
  }
}

void StoredStream::copy_out(const FrameBatch& batch, detail::PayloadMemory::Pin& pin) {
  for (const FrameView& frame : batch) {
    detail::StoredEntry* entry = index_.find(frame.position.value);
    if (!entry || entry->data != frame.payload.data())
      continue;
    entry->data = memory_.copy({entry->data, entry->length});
    pin.bytes -= entry->length;
  }
}

void StoredStream::evict() noexcept {
  while (size_ > retention_.frames || payload_bytes_ > retention_.bytes) {
    const auto [position, entry] = index_.evict_lowest();
    memory_.release(entry.data, entry.length);
    --size_;
    payload_bytes_ -= entry.length;
    ++evicted_frames_;
    evicted_bytes_ += entry.length;
    evicted_last_ = {position};
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
  return {detail::GapIterator(index_.chunks()), std::default_sentinel};
}

std::optional<EvictedRange> StoredStream::evicted() const noexcept {
  if (evicted_frames_ == 0)
    return std::nullopt;
  const bool all = evicted_last_.value == std::numeric_limits<std::uint64_t>::max();
  return EvictedRange{{evicted_last_.value + (all ? 0 : 1)}, evicted_frames_, evicted_bytes_};
}

void StoredStream::expect_from(Position first) noexcept {
  from_ = from_ ? std::min(*from_, first) : first;
}

IngestLedger StoredStream::ledger() const {
  IngestLedger ledger;
  ledger.stream = id_;
  ledger.arrived = arrived_;
  ledger.stored = stored_;
  ledger.duplicates = duplicates_;
  ledger.conflicts = conflicts_;
  ledger.late_for_evicted = late_;
  ledger.evicted = evicted_frames_;
  ledger.from = from_;
  ledger.assigned = assigned_;
  if (stored_ != 0) {
    ledger.lowest_stored = lowest_stored_;
    ledger.highest_stored = highest_stored_;
    // A frame below the first one that was offered was offered all the same.
    if (from_)
      ledger.from = std::min(*from_, lowest_stored_);
  }
  return ledger;
}

} // namespace datastream
