#pragma once
/// The end of the collector's output: what arrived, and whether all books agree.

#include "messages.hpp"

#include <datastream/actors/messages.hpp>
#include <datastream/archive_actor/messages.hpp>
#include <datastream/model/ledger.hpp>

#include <cstdint>
#include <iosfwd>

/// The stream as it came over the legacy envelope.
struct EnvelopeAccount {
  word_index::Shipped node{};
  std::uint64_t received = 0;    ///< stored behind the sink; kept by the peer
  word_index::Overlap overlap{}; ///< with what `log` has stored
};

/// The stream as the collector keeps it on disk.
struct ArchiveAccount {
  datastream::SubscriptionId subscription{};
  datastream::ArchiveStatus kept{};
  word_index::Reread reread{}; ///< by the reader, from the files
};

/// The same stream as all parties counted it, each for itself.
struct Accounts {
  std::uint64_t callers_accepted = 0;     ///< `submit` answered true
  std::uint64_t callers_refused = 0;      ///< `submit` answered false
  datastream::PipeLedger pipe{};          ///< the node's endpoint
  word_index::Report log{};               ///< the collector's viewer that keeps up
  word_index::Report slow{};              ///< its viewer that does not
  word_index::Report reader{};            ///< the reader, a subscriber of the collector's fanout
  datastream::PublicationLedger fanout{}; ///< that fanout
  datastream::SubscriptionId relay{};     ///< what feeds it, as a subscriber of the node
  ArchiveAccount archive{};               ///< the collector's archive
  EnvelopeAccount envelope{};             ///< over actors, from the node to the collector's sink
  EnvelopeAccount udp{};                  ///< over UDP, to the peer
};

/// Prints the tables, what the archive and the ways over the envelope have in common with `log`,
/// and as the last line `ledger balanced: ...` or `ledger DOES NOT BALANCE: ...`. Returns whether
/// it balances, and all have enough in common.
bool print_report(std::ostream& out, const Accounts& accounts);
