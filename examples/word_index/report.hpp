#pragma once
/// The end of the collector's output: what arrived, and whether all books agree.

#include "reader.hpp"

#include <datastream/model/ledger.hpp>

#include <cstdint>
#include <iosfwd>
#include <vector>

/// The same stream as three parties counted it, each for itself.
struct Accounts {
  std::uint64_t callers_accepted = 0; ///< `submit` answered true
  std::uint64_t callers_refused = 0;  ///< `submit` answered false
  datastream::PipeLedger pipe;        ///< the node's endpoint
  std::vector<ReaderReport> readers;  ///< the collector's stores
};

/// Prints the tables, and as the last line `ledger balanced: ...` or `ledger DOES NOT BALANCE:
/// ...`. Returns which.
bool print_report(std::ostream& out, const Accounts& accounts);
