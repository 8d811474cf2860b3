#pragma once
/// What must hold when arbitrary bytes are what the kernel or a tool printed about the host.

#include "../../runtime_hooks/src/host_cpu_text.hpp"
#include "../../runtime_hooks/src/host_gpu_text.hpp"
#include "../../runtime_hooks/src/host_memory_text.hpp"
#include "../../runtime_hooks/src/host_net_text.hpp"

#include <datastream/record.hpp>
#include <datastream/records/host_memory.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace datastream::fuzz {

/// A record of it can be written, and what was written can be read.
template <Record R>
bool can_be_read(const R& record) {
  return decode_record<R>(encode_record(record)).has_value();
}

inline bool is_share(const std::optional<double>& percent) {
  return !percent || (*percent >= 0 && *percent <= 100.001);
}

inline bool cpu_text_holds(std::string_view text) {
  // The time between what the first half says and what the second half says.
  const host::CpuStat before = host::parse_cpu_stat(text.substr(0, text.size() / 2));
  const host::CpuStat after = host::parse_cpu_stat(text.substr(text.size() / 2));
  HostCpuRecord record;
  record.host.emplace();
  if (before.all && after.all)
    static_cast<CpuShares&>(*record.host) = host::shares_between(*before.all, *after.all);
  if (const auto load = host::parse_load_averages(text))
    record.host->load1 = load->load1;
  if (auto stat = host::parse_process_stat(text))
    record.processes.emplace_back().process_name = std::move(stat->name);
  if (auto status = host::parse_process_status(text); status.name)
    record.processes.emplace_back().process_name = std::move(*status.name);
  return is_share(record.host->total_percent) && is_share(record.host->idle_percent) &&
         is_share(record.host->iowait_percent) && is_share(record.host->steal_percent) &&
         after.cores.size() <= text.size() && can_be_read(record);
}

inline bool memory_text_holds(std::string_view text) {
  const host::MemoryInfo info = host::parse_memory_info(text);
  HostMemoryRecord record;
  record.total_bytes = info.total_bytes;
  record.used_bytes = info.used_bytes;
  record.pressure = host::parse_pressure(text);
  return (!info.used_bytes || *info.used_bytes <= *info.total_bytes) &&
         (!info.swap_used_bytes || *info.swap_used_bytes <= *info.swap_total_bytes) &&
         can_be_read(record);
}

inline bool tables_hold(std::string_view text) {
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  HostNetRecord net;
  net.interfaces = host::parse_net_dev(text);
  HostGpuRecord gpu;
  gpu.gpus = host::parse_gpus(text);
  gpu.processes = host::parse_gpu_processes(text);
  return net.interfaces.size() <= lines && gpu.gpus.size() <= lines &&
         gpu.processes.size() <= lines && can_be_read(net) && can_be_read(gpu);
}

inline bool host_text_holds(std::string_view text) {
  return cpu_text_holds(text) && memory_text_holds(text) && tables_hold(text);
}

} // namespace datastream::fuzz
