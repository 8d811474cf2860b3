#pragma once
/// What a host says about its network (specification 5.9): the record on `host.net`.

#include <datastream/record.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace datastream {

/// Counters since the interface came up.
struct NetInterfaceRecord {
  std::string name;
  std::uint64_t rx_bytes = 0;
  std::uint64_t tx_bytes = 0;
  std::uint64_t rx_packets = 0;
  std::uint64_t tx_packets = 0;
  std::uint64_t rx_errors = 0;
  std::uint64_t tx_errors = 0;
  std::uint64_t rx_dropped = 0;
  std::uint64_t tx_dropped = 0;
  friend bool operator==(const NetInterfaceRecord&, const NetInterfaceRecord&) = default;
};
DATASTREAM_RECORD(NetInterfaceRecord, name, rx_bytes, tx_bytes, rx_packets, tx_packets, rx_errors,
                  tx_errors, rx_dropped, tx_dropped)

struct HostNetRecord {
  static constexpr auto CHANNEL = "host.net";
  std::string schema = "host.net.v1";
  std::uint64_t seq = 0;                      ///< counts samples from 0
  std::uint64_t sample_unix_ms = 0;           ///< when, in milliseconds since 1970
  std::vector<NetInterfaceRecord> interfaces; ///< the loopback included
  std::optional<std::string> error;
  friend bool operator==(const HostNetRecord&, const HostNetRecord&) = default;
};
DATASTREAM_RECORD(HostNetRecord, schema, seq, sample_unix_ms, interfaces, error)

} // namespace datastream
