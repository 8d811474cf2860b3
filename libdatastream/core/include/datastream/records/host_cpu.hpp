#pragma once
/// What a host says about its processors (specification 5.9): the record on `host.cpu`.

#include <datastream/record.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace datastream {

/// Shares of the time between this sample and the one before, in percent of one processor, or of
/// all together. Absent in the first sample, and when the host's counters went backwards.
struct CpuShares {
  std::optional<double> total_percent; ///< busy: neither idle nor waiting
  std::optional<double> idle_percent;
  std::optional<double> iowait_percent;
  std::optional<double> steal_percent; ///< taken by other guests of the same machine
  friend bool operator==(const CpuShares&, const CpuShares&) = default;
};

struct CpuHostRecord : CpuShares {
  std::uint32_t logical_cpus = 0;
  std::optional<double> load1;
  std::optional<double> load5;
  std::optional<double> load15;
  friend bool operator==(const CpuHostRecord&, const CpuHostRecord&) = default;
};
DATASTREAM_RECORD(CpuHostRecord, logical_cpus, total_percent, idle_percent, iowait_percent,
                  steal_percent, load1, load5, load15)

struct CpuCoreRecord : CpuShares {
  std::uint32_t index = 0;
  friend bool operator==(const CpuCoreRecord&, const CpuCoreRecord&) = default;
};
DATASTREAM_RECORD(CpuCoreRecord, index, total_percent, idle_percent, iowait_percent, steal_percent)

struct CpuProcessRecord {
  std::uint32_t pid = 0;
  std::string process_name;
  std::optional<double> cpu_percent; ///< of one processor: may exceed 100
  std::optional<std::uint64_t> rss_bytes;
  std::optional<std::uint64_t> vms_bytes;
  std::optional<std::uint32_t> thread_count;
  std::optional<std::string> error; ///< why nothing is known; it may have ended meanwhile
  friend bool operator==(const CpuProcessRecord&, const CpuProcessRecord&) = default;
};
DATASTREAM_RECORD(CpuProcessRecord, pid, process_name, cpu_percent, rss_bytes, vms_bytes,
                  thread_count, error)

struct HostCpuRecord {
  static constexpr auto CHANNEL = "host.cpu";
  std::string schema = "host.cpu.v1";
  std::uint64_t seq = 0;            ///< counts samples from 0
  std::uint64_t sample_unix_ms = 0; ///< when, in milliseconds since 1970
  std::optional<std::uint64_t> query_elapsed_ms;
  std::optional<CpuHostRecord> host;
  std::vector<CpuCoreRecord> cores;
  std::vector<CpuProcessRecord> processes; ///< ascending by pid; empty unless they are asked for
  std::uint64_t omitted_processes = 0;     ///< beyond the bound; the busiest are kept
  std::optional<std::string> error;
  friend bool operator==(const HostCpuRecord&, const HostCpuRecord&) = default;
};
DATASTREAM_RECORD(HostCpuRecord, schema, seq, sample_unix_ms, query_elapsed_ms, host, cores,
                  processes, omitted_processes, error)

} // namespace datastream
