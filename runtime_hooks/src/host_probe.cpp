#include <datastream/hooks/host_probe.hpp>

#include "host_cpu_text.hpp"
#include "host_file.hpp"
#include "host_gpu_text.hpp"
#include "host_memory_text.hpp"
#include "host_net_text.hpp"
#include "host_program.hpp"
#include "host_text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <sys/statvfs.h>
#include <system_error>
#include <utility>

namespace datastream {
namespace {

using namespace host;
using Clock = std::chrono::steady_clock;
using std::filesystem::path;

std::uint64_t unix_ms() {
  using namespace std::chrono;
  const auto now = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(now, 0));
}

std::uint64_t ms_since(Clock::time_point start) {
  using namespace std::chrono;
  return static_cast<std::uint64_t>(duration_cast<milliseconds>(Clock::now() - start).count());
}

template <class Record>
Record begin_record(std::uint64_t& seq) {
  Record record;
  record.seq = seq++;
  record.sample_unix_ms = unix_ms();
  return record;
}

void add_error(std::optional<std::string>& error, const std::string& text) {
  if (error)
    error->append("; ").append(text);
  else
    error = text;
}

/// A file's text; what is wrong with it goes to `error`.
std::optional<std::string> read_or_note(const path& file, std::optional<std::string>& error) {
  auto text = read_file(file);
  if (text)
    return std::move(*text);
  add_error(error, message(file, text.error()));
  return std::nullopt;
}

/// Where the kernel does not measure pressure the file is absent, or may not be read: no error.
std::optional<PressureRecord> read_pressure(const path& file, std::optional<std::string>& error) {
  const auto text = read_file(file);
  if (!text) {
    if (text.error() != std::errc::no_such_file_or_directory &&
        text.error() != std::errc::operation_not_supported)
      add_error(error, message(file, text.error()));
    return std::nullopt;
  }
  auto pressure = parse_pressure(*text);
  if (!pressure)
    add_error(error, file.string() + ": has no pressure");
  return pressure;
}

std::vector<std::uint32_t> list_processes(const path& proc, std::optional<std::string>& error) {
  std::vector<std::uint32_t> pids;
  std::error_code failed;
  std::filesystem::directory_iterator entry(proc, failed);
  for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed))
    if (const auto pid = to_number<std::uint32_t>(entry->path().filename().string()))
      pids.push_back(*pid);
  if (failed)
    add_error(error, message(proc, failed));
  std::ranges::sort(pids);
  return pids;
}

/// Keeps the busiest, and of equally busy ones the largest; returns how many were left out.
std::uint64_t keep_busiest(std::vector<CpuProcessRecord>& processes) {
  if (processes.size() <= defaults::host_processes)
    return 0;
  const auto end = processes.begin() + static_cast<std::ptrdiff_t>(defaults::host_processes);
  std::ranges::nth_element(processes, end, std::ranges::greater(), [](const auto& process) {
    return std::pair(process.cpu_percent.value_or(0), process.rss_bytes.value_or(0));
  });
  const auto omitted = static_cast<std::uint64_t>(processes.end() - end);
  processes.erase(end, processes.end());
  std::ranges::sort(processes, {}, &CpuProcessRecord::pid);
  return omitted;
}

/// What has to be remembered to tell what happened since.
class CpuHistory {
public:
  HostCpuRecord sample(const path& proc, bool with_processes) {
    auto record = begin_record<HostCpuRecord>(seq_);
    const auto start = Clock::now();
    const auto text = read_or_note(proc / "stat", record.error);
    if (!text)
      return record;
    const CpuStat stat = parse_cpu_stat(*text);
    if (!stat.all) {
      add_error(record.error, (proc / "stat").string() + ": has no line for all processors");
      return record;
    }
    CpuHostRecord& host = record.host.emplace();
    host.logical_cpus = static_cast<std::uint32_t>(stat.cores.size());
    if (last_.all)
      static_cast<CpuShares&>(host) = shares_between(*last_.all, *stat.all);
    add_load(host, proc, record.error);
    for (const auto& [index, ticks] : stat.cores) {
      CpuCoreRecord& core = record.cores.emplace_back();
      core.index = index;
      if (const auto before = last_.cores.find(index); before != last_.cores.end())
        static_cast<CpuShares&>(core) = shares_between(before->second, ticks);
    }
    if (with_processes)
      add_processes(record, stat, proc);
    last_ = stat;
    record.query_elapsed_ms = ms_since(start);
    return record;
  }

private:
  static void add_load(CpuHostRecord& host, const path& proc, std::optional<std::string>& error) {
    const auto text = read_or_note(proc / "loadavg", error);
    if (!text)
      return;
    const auto load = parse_load_averages(*text);
    if (!load)
      return add_error(error, (proc / "loadavg").string() + ": has no load averages");
    host.load1 = load->load1;
    host.load5 = load->load5;
    host.load15 = load->load15;
  }

  void add_processes(HostCpuRecord& record, const CpuStat& stat, const path& proc) {
    const auto passed = last_.all ? ticks_between(*last_.all, *stat.all) : std::nullopt;
    const auto cores = static_cast<double>(std::max<std::size_t>(stat.cores.size(), 1));
    std::map<std::uint32_t, ProcessStat> seen;
    for (const std::uint32_t pid : list_processes(proc, record.error)) {
      CpuProcessRecord process;
      process.pid = pid;
      const path folder = proc / std::to_string(pid);
      if (auto known = read_process(process, folder)) {
        const auto before = processes_.find(pid);
        if (passed && before != processes_.end() && before->second.started == known->started &&
            before->second.ticks <= known->ticks)
          process.cpu_percent =
              static_cast<double>(known->ticks - before->second.ticks) * cores * 100 / *passed;
        seen.emplace(pid, std::move(*known));
      }
      record.processes.push_back(std::move(process));
    }
    processes_ = std::move(seen);
    record.omitted_processes = keep_busiest(record.processes);
  }

  static std::optional<ProcessStat> read_process(CpuProcessRecord& process, const path& folder) {
    const auto stat_text = read_or_note(folder / "stat", process.error);
    const auto status_text =
        stat_text ? read_or_note(folder / "status", process.error) : std::nullopt;
    if (!status_text)
      return std::nullopt;
    auto stat = parse_process_stat(*stat_text);
    if (!stat) {
      add_error(process.error, (folder / "stat").string() + ": is no statistics");
      return std::nullopt;
    }
    ProcessStatus status = parse_process_status(*status_text);
    process.process_name = status.name ? std::move(*status.name) : stat->name;
    process.rss_bytes = status.rss_bytes;
    process.vms_bytes = status.vms_bytes;
    process.thread_count = status.threads;
    return stat;
  }

  std::uint64_t seq_ = 0;
  CpuStat last_;
  std::map<std::uint32_t, ProcessStat> processes_; ///< by pid
};

/// Bytes, or the largest number where there are more.
std::uint64_t bytes(std::uint64_t blocks, std::uint64_t size) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(blocks, size, &product) ? UINT64_MAX : product;
}

void add_filesystem(HostStorageRecord& record, const std::string& mount) {
  struct statvfs info{};
  int failed = 0;
  do
    failed = ::statvfs(mount.c_str(), &info) == 0 ? 0 : errno;
  while (failed == EINTR);
  if (failed)
    return add_error(record.error, message(mount, {failed, std::generic_category()}));
  const std::uint64_t used = info.f_blocks - std::min(info.f_bfree, info.f_blocks);
  const double usable = static_cast<double>(used) + static_cast<double>(info.f_bavail);
  record.filesystems.push_back(
      {mount, bytes(info.f_blocks, info.f_frsize), bytes(used, info.f_frsize),
       bytes(info.f_bavail, info.f_frsize),
       usable > 0 ? std::optional(static_cast<double>(used) / usable * 100) : std::nullopt});
}

/// How a tool that failed explained itself, as far as one line goes.
std::string explanation(const std::string& tool, const ProgramOutput& output) {
  constexpr std::size_t enough = 200;
  std::string_view text = output.text;
  const std::string_view line = trim(take_line(text)).substr(0, enough);
  return tool + ": exit status " + std::to_string(output.status) +
         (line.empty() ? std::string() : ": " + std::string(line));
}

/// Asks the tool once; what is wrong goes to `error`, what was printed nevertheless is returned.
std::optional<std::string> query(HostProgram& program, const HostProbeOptions& options,
                                 std::string_view kind, std::string_view fields,
                                 Clock::time_point deadline, const std::stop_token& stop,
                                 std::optional<std::string>& error) {
  auto output =
      program.run({options.nvidia_smi, "--query-" + std::string(kind) + '=' + std::string(fields),
                   "--format=csv,noheader,nounits"},
                  deadline, stop);
  if (!output) {
    add_error(error, output.error());
    return std::nullopt;
  }
  if (output->status != 0)
    add_error(error, explanation(options.nvidia_smi, *output));
  return std::move(output->text);
}

} // namespace

struct HostProbe::State {
  HostProbeOptions options;
  CpuHistory cpu{};
  std::uint64_t net_seq = 0;
  std::uint64_t memory_seq = 0;
  std::uint64_t storage_seq = 0;
  std::uint64_t gpu_seq = 0;
  HostProgram program{};
};

HostProbe::HostProbe(HostProbeOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}
HostProbe::HostProbe(HostProbe&&) noexcept = default;
HostProbe& HostProbe::operator=(HostProbe&&) noexcept = default;
HostProbe::~HostProbe() = default;

HostCpuRecord HostProbe::cpu() {
  return state_->cpu.sample(state_->options.proc, state_->options.processes);
}

HostNetRecord HostProbe::net() {
  auto record = begin_record<HostNetRecord>(state_->net_seq);
  const path file = state_->options.proc / "net" / "dev";
  if (const auto text = read_or_note(file, record.error)) {
    record.interfaces = parse_net_dev(*text);
    if (record.interfaces.empty())
      record.error = file.string() + ": has no interfaces";
  }
  return record;
}

HostMemoryRecord HostProbe::memory() {
  auto record = begin_record<HostMemoryRecord>(state_->memory_seq);
  const auto start = Clock::now();
  const path file = state_->options.proc / "meminfo";
  const auto text = read_or_note(file, record.error);
  if (!text)
    return record;
  const MemoryInfo info = parse_memory_info(*text);
  if (!info.total_bytes)
    add_error(record.error, file.string() + ": has no total");
  record.total_bytes = info.total_bytes;
  record.available_bytes = info.available_bytes;
  record.used_bytes = info.used_bytes;
  record.cached_bytes = info.cached_bytes;
  record.swap_total_bytes = info.swap_total_bytes;
  record.swap_used_bytes = info.swap_used_bytes;
  record.pressure = read_pressure(state_->options.proc / "pressure" / "memory", record.error);
  record.query_elapsed_ms = ms_since(start);
  return record;
}

HostStorageRecord HostProbe::storage() {
  auto record = begin_record<HostStorageRecord>(state_->storage_seq);
  const auto start = Clock::now();
  for (const std::string& mount : state_->options.mounts)
    add_filesystem(record, mount);
  record.pressure = read_pressure(state_->options.proc / "pressure" / "io", record.error);
  record.query_elapsed_ms = ms_since(start);
  return record;
}

HostGpuRecord HostProbe::gpu(const std::stop_token& stop) {
  auto record = begin_record<HostGpuRecord>(state_->gpu_seq);
  const auto start = Clock::now();
  const auto timeout = std::clamp<std::chrono::milliseconds>(
      state_->options.gpu_timeout, std::chrono::milliseconds::zero(), std::chrono::days(1));
  const auto ask = [&](std::string_view kind, std::string_view fields) {
    return query(state_->program, state_->options, kind, fields, start + timeout, stop,
                 record.error);
  };
  const auto gpus = ask("gpu", gpu_fields);
  if (!gpus)
    return record;
  record.gpus = parse_gpus(*gpus);
  if (const auto processes = ask("compute-apps", gpu_process_fields))
    record.processes = parse_gpu_processes(*processes);
  record.query_elapsed_ms = ms_since(start);
  return record;
}

} // namespace datastream
