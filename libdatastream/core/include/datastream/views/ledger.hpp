#pragma once
/// A stream's books from both ends: what arrived here, as we counted it, and what its producer's
/// endpoint says of itself.

#include <datastream/ingest/stored_stream.hpp>
#include <datastream/model/ids.hpp>
#include <datastream/model/ledger.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace datastream {

/// An endpoint's figures as it last reported them in a `datastream.health` record. They describe
/// the moment before that record was submitted.
struct ReportedPipe {
  Position position;         ///< of the record
  std::uint64_t dropped = 0; ///< refused submissions
  /// What the record says. Peers that send only `assigned` and `dropped` leave the rest 0.
  PipeLedger ledger;
  bool whole = false; ///< the record carried the whole ledger
  friend bool operator==(const ReportedPipe&, const ReportedPipe&) = default;
};

/// How a peer's figures can contradict each other, or what is stored of it.
enum class ReportInconsistency {
  sums_differ,         ///< the equalities of the reported ledger do not hold
  assigned_in_advance, ///< the record says more positions were assigned than lie before itself
  ended_too_early,     ///< the stream was said to have ended below a position that is stored
};

std::string_view to_string(ReportInconsistency inconsistency);

struct StreamReport {
  IngestLedger ingest;
  std::optional<ReportedPipe> reported;
  /// A peer's figures are shown, never relied upon: contradictions are listed, at most one a kind.
  std::vector<ReportInconsistency> inconsistencies;
};

/// Joins a stream's ingest ledger with the latest stored health record that decodes. `health` is
/// the stream's channel `datastream.health`, if it has one. Walks back from the end of the stream.
/// What arrived is counted by who took it in: of a part that was loaded from an archive, only
/// `reported` says something about the stream as a whole.
StreamReport stream_report(const StoredStream& stream, std::optional<ChannelId> health);

} // namespace datastream
