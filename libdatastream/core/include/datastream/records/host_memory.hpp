#pragma once
/// What a host says about its memory (specification 5.9): the record on `host.memory`.

#include <datastream/record.hpp>
#include <datastream/records/pressure.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace datastream {

struct HostMemoryRecord {
  static constexpr auto CHANNEL = "host.memory";
  std::string schema = "host.memory.v1";
  std::uint64_t seq = 0;            ///< counts samples from 0
  std::uint64_t sample_unix_ms = 0; ///< when, in milliseconds since 1970
  std::optional<std::uint64_t> query_elapsed_ms;
  std::optional<std::uint64_t> total_bytes;
  std::optional<std::uint64_t> available_bytes; ///< without swapping
  std::optional<std::uint64_t> used_bytes;      ///< total less available
  std::optional<std::uint64_t> cached_bytes;    ///< page cache and reclaimable slabs
  std::optional<std::uint64_t> swap_total_bytes;
  std::optional<std::uint64_t> swap_used_bytes;
  std::optional<PressureRecord> pressure; ///< absent where the kernel does not measure it
  std::optional<std::string> error;
  friend bool operator==(const HostMemoryRecord&, const HostMemoryRecord&) = default;
};
DATASTREAM_RECORD(HostMemoryRecord, schema, seq, sample_unix_ms, query_elapsed_ms, total_bytes,
                  available_bytes, used_bytes, cached_bytes, swap_total_bytes, swap_used_bytes,
                  pressure, error)

} // namespace datastream
