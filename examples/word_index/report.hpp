#pragma once
/// The end of the collector's output: what arrived, and whether all books agree.

#include "messages.hpp"

#include <datastream/actors/messages.hpp>
#include <datastream/model/ledger.hpp>

#include <cstdint>
#include <iosfwd>

/// The same stream as all parties counted it, each for itself.
struct Accounts {
  std::uint64_t callers_accepted = 0;     ///< `submit` answered true
  std::uint64_t callers_refused = 0;      ///< `submit` answered false
  datastream::PipeLedger pipe{};          ///< the node's endpoint
  word_index::Report log{};               ///< the collector's viewers
  word_index::Report slow{};              ///<
  word_index::Report reader{};            ///< the reader, which is a subscriber of
  datastream::PublicationLedger fanout{}; ///< the collector's fanout, which gets what
  datastream::SubscriptionId relay{};     ///< the collector's relay is sent by the node
};

/// Prints the tables, and as the last line `ledger balanced: ...` or `ledger DOES NOT BALANCE:
/// ...`. Returns which.
bool print_report(std::ostream& out, const Accounts& accounts);
