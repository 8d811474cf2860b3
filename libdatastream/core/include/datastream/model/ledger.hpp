#pragma once
/// What each stage counts. Every ledger is one cut: its counters belong together, and the
/// equalities that its `balanced()` names hold exactly.

#include <datastream/model/ids.hpp>
#include <datastream/model/loss_reason.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace datastream {

/// Submissions that a mux refused, in frames, by reason. Refused frames have no position.
struct RefusedCounts {
  std::uint64_t mux_frames_full = 0;
  std::uint64_t mux_bytes_full = 0;
  std::uint64_t stream_ended = 0;
  std::uint64_t payload_too_large = 0;
  std::uint64_t out_of_memory = 0;

  /// The count for one of `mux_refusals`; 0 for every other reason.
  std::uint64_t count(LossReason reason) const;
  std::uint64_t total() const {
    return mux_frames_full + mux_bytes_full + stream_ended + payload_too_large + out_of_memory;
  }
  friend bool operator==(const RefusedCounts&, const RefusedCounts&) = default;
};

/// Copies of frames at one subscriber, or summed over many.
struct SubscriberCounts {
  std::uint64_t offered = 0;      ///< since it subscribed
  std::uint64_t acknowledged = 0; ///< received, or taken from its queue
  std::uint64_t dropped = 0;      ///< its bound was reached
  std::uint64_t outstanding = 0;  ///< accepted for it and not yet acknowledged
  std::uint64_t abandoned = 0;    ///< outstanding when it left

  /// offered = acknowledged + dropped + outstanding + abandoned
  bool balanced() const { return offered == acknowledged + dropped + outstanding + abandoned; }
  SubscriberCounts& operator+=(const SubscriberCounts& other);
  friend bool operator==(const SubscriberCounts&, const SubscriberCounts&) = default;
};

/// One subscriber of a fanout.
struct SubscriberLedger {
  SubscriptionId id;
  std::string name;
  SubscriberCounts counts;
  friend bool operator==(const SubscriberLedger&, const SubscriberLedger&) = default;
};

/// A fanout's subscribers, present and departed.
struct FanoutLedger {
  std::vector<SubscriberLedger> subscribers; ///< in the order of their ids
  SubscriberCounts departed;                 ///< sum over those that left
  std::uint64_t stray_acknowledgements = 0;  ///< ignored acknowledgements
  std::uint64_t frames_after_end = 0;        ///< refused: their stream had ended

  bool balanced() const;
  friend bool operator==(const FanoutLedger&, const FanoutLedger&) = default;
};

/// One stream from its producers to its fanout, as the endpoint counts it.
struct PipeLedger {
  StreamId stream;
  RefusedCounts refused;
  std::uint64_t in_mux = 0;           ///< accepted and not yet drained
  std::uint64_t assigned = 0;         ///< positions given out: the next frame gets this one
  std::uint64_t in_transit = 0;       ///< drained, on the way to a fanout actor of its own
  std::uint64_t published = 0;        ///< offered to a fanout that had subscribers
  std::uint64_t bitbucketed = 0;      ///< drained while nobody was subscribed
  std::uint64_t drained_directly = 0; ///< taken by somebody who bypassed the fanout
  bool ended = false;
  FanoutLedger fanout;

  /// submitted = refused + in the mux + assigned; derived, not counted.
  std::uint64_t submitted() const { return refused.total() + in_mux + assigned; }
  /// assigned = in transit + published + bitbucketed + drained directly; and the fanout is
  /// balanced.
  bool balanced() const;
  friend bool operator==(const PipeLedger&, const PipeLedger&) = default;
};

/// One stream as it arrived somewhere, as ingest counts it.
struct IngestLedger {
  StreamId stream;
  std::uint64_t arrived = 0;          ///< frames handed to ingest
  std::uint64_t stored = 0;           ///< newly stored, evicted ones included
  std::uint64_t duplicates = 0;       ///< position stored already, same bytes
  std::uint64_t conflicts = 0;        ///< position stored already, other bytes; the first stays
  std::uint64_t late_for_evicted = 0; ///< position below the evicted horizon
  std::uint64_t evicted = 0;          ///< stored once, removed by retention

  std::optional<Position> from;           ///< first position that was offered, where known
  std::optional<std::uint64_t> assigned;  ///< final number of positions, once the stream ended
  std::optional<Position> lowest_stored;  ///< lowest position ever stored
  std::optional<Position> highest_stored; ///< highest position ever stored

  /// Positions missing between stored ones.
  std::uint64_t interior_gaps() const;
  /// Positions missing before the first stored one; nothing while `from` is unknown.
  std::optional<std::uint64_t> leading() const;
  /// Positions missing after the last stored one; nothing until the stream has ended.
  std::optional<std::uint64_t> trailing() const;
  /// Every position that was offered and never stored, as far as it is known.
  std::uint64_t missing() const {
    return leading().value_or(0) + interior_gaps() + trailing().value_or(0);
  }
  /// arrived = stored + duplicates + late arrivals + conflicts; and, once the stream has ended and
  /// `from` is known, assigned - from = stored + missing.
  bool balanced() const;
  friend bool operator==(const IngestLedger&, const IngestLedger&) = default;
};

/// Streams that a store was told to forget, summed over them: with the ledgers of those that it
/// has, everything that ever arrived.
struct ForgottenLedger {
  std::uint64_t streams = 0; ///< a stream that came again after it was forgotten counts again
  std::uint64_t arrived = 0;
  std::uint64_t stored = 0; ///< evicted and forgotten ones included
  std::uint64_t duplicates = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t late_for_evicted = 0;
  std::uint64_t evicted = 0; ///< before they were forgotten
  std::uint64_t missing = 0; ///< as far as it was known when they were forgotten

  ForgottenLedger& operator+=(const IngestLedger& forgotten);
  /// arrived = stored + duplicates + late arrivals + conflicts
  bool balanced() const { return arrived == stored + duplicates + late_for_evicted + conflicts; }
  friend bool operator==(const ForgottenLedger&, const ForgottenLedger&) = default;
};

} // namespace datastream
