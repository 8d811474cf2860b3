#pragma once
/// How long tasks of a host had to wait for one resource: part of host records.

#include <datastream/record.hpp>

#include <cstdint>
#include <optional>

namespace datastream {

/// Shares of time in percent, averaged over the last 10, 60 and 300 seconds, and microseconds since
/// the host started. `some`: at least one task waited; `full`: all of them did.
struct PressureRecord {
  double some_avg10 = 0;
  double some_avg60 = 0;
  double some_avg300 = 0;
  std::uint64_t some_total_us = 0;
  std::optional<double> full_avg10;
  std::optional<double> full_avg60;
  std::optional<double> full_avg300;
  std::optional<std::uint64_t> full_total_us;
  friend bool operator==(const PressureRecord&, const PressureRecord&) = default;
};
DATASTREAM_RECORD(PressureRecord, some_avg10, some_avg60, some_avg300, some_total_us, full_avg10,
                  full_avg60, full_avg300, full_total_us)

} // namespace datastream
