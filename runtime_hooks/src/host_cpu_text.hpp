#pragma once
/// Reads `/proc/stat`, `/proc/loadavg`, `/proc/PID/stat` and `/proc/PID/status`.

#include <datastream/records/host_cpu.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace datastream::host {

/// Time of one processor or of all of them, in clock ticks since the host started: user, nice,
/// system, idle, iowait, irq, softirq, steal.
using CpuTicks = std::array<std::uint64_t, 8>;

struct CpuStat {
  std::optional<CpuTicks> all;
  std::map<std::uint32_t, CpuTicks> cores; ///< by number
};

/// Lines without the first four numbers are left out; the others default to 0.
CpuStat parse_cpu_stat(std::string_view text);

/// Ticks that passed in between, of all kinds; nothing if none did or a counter went backwards.
std::optional<double> ticks_between(const CpuTicks& before, const CpuTicks& after);
/// How that time was spent.
CpuShares shares_between(const CpuTicks& before, const CpuTicks& after);

struct LoadAverages {
  double load1 = 0;
  double load5 = 0;
  double load15 = 0;
};
std::optional<LoadAverages> parse_load_averages(std::string_view text);

struct ProcessStat {
  std::string name;
  std::uint64_t ticks = 0;   ///< of processor time, in user and kernel mode
  std::uint64_t started = 0; ///< tells processes apart that had the same pid
};
std::optional<ProcessStat> parse_process_stat(std::string_view text);

struct ProcessStatus {
  std::optional<std::string> name;
  std::optional<std::uint64_t> rss_bytes;
  std::optional<std::uint64_t> vms_bytes;
  std::optional<std::uint32_t> threads;
};
ProcessStatus parse_process_status(std::string_view text);

} // namespace datastream::host
