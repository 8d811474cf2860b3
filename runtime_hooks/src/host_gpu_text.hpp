#pragma once
/// Reads what `nvidia-smi` prints with `--format=csv,noheader,nounits`.

#include <datastream/records/host_gpu.hpp>

#include <string_view>
#include <vector>

namespace datastream::host {

/// The fields to ask for, in the order in which the parsers expect them.
inline constexpr std::string_view gpu_fields =
    "index,uuid,name,memory.used,memory.total,utilization.gpu,utilization.memory,"
    "temperature.gpu,power.draw";
inline constexpr std::string_view gpu_process_fields = "gpu_uuid,pid,process_name,used_memory";

/// Rows with too few fields are left out, as messages are that stand between the rows; fields
/// without a number are absent. Names may hold commas.
std::vector<GpuRecord> parse_gpus(std::string_view text);
std::vector<GpuProcessRecord> parse_gpu_processes(std::string_view text);

} // namespace datastream::host
