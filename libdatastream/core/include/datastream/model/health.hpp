#pragma once
/// The pipe's report on itself.

#include <datastream/model/ledger.hpp>

#include <cstdint>
#include <string>

namespace datastream {

/// The channel `datastream.health` carries JSON records of the endpoint's ledger. A record
/// describes the moment before its own submission.
inline constexpr auto health_channel = "datastream.health";

/// The payload of a health record: `assigned`, `dropped` (refused submissions) and
/// `loss_rate_ppm` (dropped per million assigned, 0 when nothing is assigned, saturated), then
/// the whole ledger. Never throws on odd names: invalid UTF-8 is replaced.
std::string encode_health(const PipeLedger& ledger);

} // namespace datastream
