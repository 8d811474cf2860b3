#include <datastream/model/ledger.hpp>

#include <algorithm>

namespace datastream {

std::uint64_t RefusedCounts::count(LossReason reason) const {
  switch (reason) {
  case LossReason::mux_frames_full:
    return mux_frames_full;
  case LossReason::mux_bytes_full:
    return mux_bytes_full;
  case LossReason::stream_ended:
    return stream_ended;
  case LossReason::payload_too_large:
    return payload_too_large;
  case LossReason::out_of_memory:
    return out_of_memory;
  default:
    return 0;
  }
}

SubscriberCounts& SubscriberCounts::operator+=(const SubscriberCounts& other) {
  offered += other.offered;
  acknowledged += other.acknowledged;
  dropped += other.dropped;
  outstanding += other.outstanding;
  abandoned += other.abandoned;
  return *this;
}

bool FanoutLedger::balanced() const {
  return departed.balanced() &&
         std::ranges::all_of(subscribers, [](const auto& s) { return s.counts.balanced(); });
}

bool PipeLedger::balanced() const {
  return assigned == in_transit + published + bitbucketed + drained_directly && fanout.balanced();
}

std::uint64_t IngestLedger::interior_gaps() const {
  if (!lowest_stored || !highest_stored)
    return 0;
  // Written so that positions 0 and 2^64 - 1 do not overflow.
  return highest_stored->value - lowest_stored->value - (stored - 1);
}

std::optional<std::uint64_t> IngestLedger::leading() const {
  if (!from)
    return std::nullopt;
  if (!lowest_stored)
    return 0;
  return lowest_stored->value > from->value ? lowest_stored->value - from->value : 0;
}

std::optional<std::uint64_t> IngestLedger::trailing() const {
  if (!assigned)
    return std::nullopt;
  // A peer that claims fewer positions than have arrived has lost nothing after the last one.
  if (highest_stored)
    return *assigned > highest_stored->value ? *assigned - highest_stored->value - 1 : 0;
  const std::uint64_t begin = from.value_or(Position{}).value;
  return *assigned > begin ? *assigned - begin : 0;
}

bool IngestLedger::balanced() const {
  if (arrived != stored + duplicates + late_for_evicted + conflicts)
    return false;
  if (!assigned || !from)
    return true;
  return *assigned >= from->value && *assigned - from->value == stored + missing();
}

ForgottenLedger& ForgottenLedger::operator+=(const IngestLedger& forgotten) {
  ++streams;
  arrived += forgotten.arrived;
  stored += forgotten.stored;
  duplicates += forgotten.duplicates;
  conflicts += forgotten.conflicts;
  late_for_evicted += forgotten.late_for_evicted;
  evicted += forgotten.evicted;
  missing += forgotten.missing();
  return *this;
}

} // namespace datastream
