#pragma once
/// What a host says about its graphics processors (specification 5.9): the record on `host.gpu`.

#include <datastream/record.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace datastream {

/// Absent is what the device does not tell.
struct GpuRecord {
  std::optional<std::uint32_t> index;
  std::string uuid;
  std::string name;
  std::optional<std::uint64_t> memory_used_mib;
  std::optional<std::uint64_t> memory_total_mib;
  std::optional<std::uint32_t> utilization_gpu_percent;
  std::optional<std::uint32_t> utilization_memory_percent;
  std::optional<std::int64_t> temperature_c;
  std::optional<double> power_draw_w;
  friend bool operator==(const GpuRecord&, const GpuRecord&) = default;
};
DATASTREAM_RECORD(GpuRecord, index, uuid, name, memory_used_mib, memory_total_mib,
                  utilization_gpu_percent, utilization_memory_percent, temperature_c, power_draw_w)

struct GpuProcessRecord {
  std::string gpu_uuid;
  std::optional<std::uint32_t> pid;
  std::string process_name;
  std::optional<std::uint64_t> used_memory_mib;
  friend bool operator==(const GpuProcessRecord&, const GpuProcessRecord&) = default;
};
DATASTREAM_RECORD(GpuProcessRecord, gpu_uuid, pid, process_name, used_memory_mib)

struct HostGpuRecord {
  static constexpr auto CHANNEL = "host.gpu";
  std::string schema = "host.gpu.v1";
  std::uint64_t seq = 0;                         ///< counts samples from 0
  std::uint64_t sample_unix_ms = 0;              ///< when, in milliseconds since 1970
  std::optional<std::uint64_t> query_elapsed_ms; ///< absent when nothing could be asked
  std::vector<GpuRecord> gpus;
  std::vector<GpuProcessRecord> processes;
  std::optional<std::string> error;
  friend bool operator==(const HostGpuRecord&, const HostGpuRecord&) = default;
};
DATASTREAM_RECORD(HostGpuRecord, schema, seq, sample_unix_ms, query_elapsed_ms, gpus, processes,
                  error)

} // namespace datastream
