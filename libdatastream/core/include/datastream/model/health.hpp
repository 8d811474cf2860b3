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
/// the whole ledger. Its size is bounded: `subscribers` lists the `defaults::health_subscribers`
/// that came first, `omitted` counts the others and sums what they count, and a name is cut to
/// `defaults::health_name_bytes`. Never throws on odd names: invalid UTF-8 is replaced.
std::string encode_health(const PipeLedger& ledger);

} // namespace datastream
