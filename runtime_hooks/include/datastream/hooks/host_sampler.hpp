#pragma once
/// Samples of the host, into a stream, at intervals (specification 5.9).

#include <datastream/defaults.hpp>
#include <datastream/hooks/host_probe.hpp>
#include <datastream/pipe/producer.hpp>

#include <chrono>
#include <cstdint>
#include <memory>

namespace datastream {

struct HostSamplerOptions {
  /// Between the begins of two samples; from 1 ms to a day. A sample that takes longer delays the
  /// next one, of its own kind only.
  std::chrono::milliseconds interval = defaults::host_interval;
  // What is sampled.
  bool cpu = true;
  bool net = true;
  bool memory = true;
  bool storage = true;
  bool gpu = true;
  HostProbeOptions probe{};
};

/// Submits records on `host.cpu`, `host.net`, `host.memory`, `host.storage` and `host.gpu`, as
/// configured.
///
///     HostSampler sampler(endpoint.producer());
///     sampler.start();
///
/// After `start` it has threads of its own, which the destructor stops and waits for: one for what
/// the kernel answers at once, and one each for storage and GPUs, where a hanging file system or
/// driver holds up neither the others nor each other. (A file system that hangs holds up the
/// destructor. A hanging tool does not: it is killed, and left alone if it survives that.)
///
/// Thread safety: one owner; `accepted` and `refused` from any thread.
class HostSampler {
public:
  /// Registers the channels. Throws `std::logic_error` when the catalog refuses, as
  /// `DatastreamProducer::register_channel` does.
  explicit HostSampler(const DatastreamProducer& producer, HostSamplerOptions options = {});
  HostSampler(HostSampler&&) noexcept;
  HostSampler& operator=(HostSampler&&) noexcept;
  ~HostSampler();

  /// Samples at once and then at every interval, until `stop` or destruction. Does nothing if it
  /// has been started. Throws `std::system_error` when the system has no thread to give.
  void start();
  /// Ends the threads and waits for them. May be started again.
  void stop();

  /// For programs with a timer of their own, instead of `start`: samples everything once, in the
  /// calling thread. May take as long as `HostProbe::gpu` does. Must not be called while started.
  void sample_once();

  std::uint64_t accepted() const noexcept;
  /// Records that the mux refused, which also counts them by reason, or that found no memory.
  std::uint64_t refused() const noexcept;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace datastream
