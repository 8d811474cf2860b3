#pragma once
/// What the host does, when asked (specification 5.9).

#include <datastream/defaults.hpp>
#include <datastream/records/host_cpu.hpp>
#include <datastream/records/host_gpu.hpp>
#include <datastream/records/host_memory.hpp>
#include <datastream/records/host_net.hpp>
#include <datastream/records/host_storage.hpp>

#include <chrono>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace datastream {

struct HostProbeOptions {
  /// Where the kernel's files are.
  std::filesystem::path proc = "/proc";
  /// Whether `cpu` reads every process: two files for each.
  bool processes = false;
  /// Directories whose file systems `storage` asks for.
  std::vector<std::string> mounts = {"/"};
  /// The tool that `gpu` runs, without a shell; a name without a slash is looked for in PATH.
  std::string nvidia_smi = "nvidia-smi";
  /// How long both its runs of one sample may take together, from 0 to a day.
  std::chrono::milliseconds gpu_timeout = defaults::gpu_timeout;
};

/// Takes samples of the host. A source that is missing, cut off or strange gives a record that says
/// so in `error`, with what could be read; nothing throws but `std::bad_alloc`.
///
/// Shares of processor time are measured between two calls of `cpu`, so the first has none.
///
/// Each function counts its samples (`seq`) from 0. What a call costs: `net` and `memory` some tens
/// of microseconds, `cpu` some more for each processor and process. `storage` blocks as long as a
/// file system does, which may be for ever if its server is gone. `gpu` runs another program and
/// waits for it, up to the timeout.
///
/// Thread safety: each function is called by one thread at a time; different functions may run
/// concurrently.
class HostProbe {
public:
  explicit HostProbe(HostProbeOptions options = {});
  HostProbe(HostProbe&&) noexcept;
  HostProbe& operator=(HostProbe&&) noexcept;
  ~HostProbe();

  HostCpuRecord cpu();
  HostNetRecord net();
  HostMemoryRecord memory();
  HostStorageRecord storage();
  /// Returns early, with an error, when a stop is requested.
  HostGpuRecord gpu(const std::stop_token& stop = {});

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace datastream
