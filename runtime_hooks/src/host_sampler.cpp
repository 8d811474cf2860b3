#include <datastream/hooks/host_sampler.hpp>

#include <datastream/detail/signals_blocked.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace datastream {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// Calls `sample` at once and then at every interval; one that was missed is not made up for.
template <class Sample>
void repeat(const std::stop_token& stop, std::chrono::milliseconds interval, Sample sample) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  for (auto due = Clock::now(); !stop.stop_requested();) {
    sample(stop);
    due = std::max(due + interval, Clock::now());
    std::unique_lock lock(mutex);
    stopped.wait_until(lock, stop, due, [] { return false; });
  }
}

} // namespace

struct HostSampler::State {
  State(DatastreamProducer stream, HostSamplerOptions all)
      : producer(std::move(stream)),
        interval(std::clamp<std::chrono::milliseconds>(all.interval, 1ms, std::chrono::days(1))),
        probe(std::move(all.probe)), cpu(channel_if<HostCpuRecord>(all.cpu)),
        net(channel_if<HostNetRecord>(all.net)), memory(channel_if<HostMemoryRecord>(all.memory)),
        storage(channel_if<HostStorageRecord>(all.storage)),
        gpu(channel_if<HostGpuRecord>(all.gpu)) {}
  ~State() { stop(); }

  template <class R>
  std::optional<ChannelId> channel_if(bool wanted) const {
    return wanted ? std::optional(producer.register_record<R>()) : std::nullopt;
  }

  void stop() {
    for (std::jthread& thread : threads)
      thread.request_stop();
    threads.clear();
  }

  /// Takes a record and submits it, if there is a channel for it.
  template <class Take>
  void submit(const std::optional<ChannelId>& channel, Take take) {
    if (!channel)
      return;
    bool taken = false;
    try {
      taken = producer.submit_record(*channel, take());
    } catch (const std::bad_alloc&) { // counted like a refusal
    }
    (taken ? accepted : refused).fetch_add(1, std::memory_order_relaxed);
  }

  void sample_kernel() {
    submit(cpu, [this] { return probe.cpu(); });
    submit(net, [this] { return probe.net(); });
    submit(memory, [this] { return probe.memory(); });
  }
  void sample_storage() {
    submit(storage, [this] { return probe.storage(); });
  }
  void sample_gpu(const std::stop_token& stop) {
    submit(gpu, [&] { return probe.gpu(stop); });
  }

  DatastreamProducer producer;
  std::chrono::milliseconds interval;
  HostProbe probe;
  std::optional<ChannelId> cpu, net, memory, storage, gpu; // of what is sampled
  std::atomic<std::uint64_t> accepted{0};
  std::atomic<std::uint64_t> refused{0};
  std::vector<std::jthread> threads; // last: they use all the others
};

HostSampler::HostSampler(const DatastreamProducer& producer, HostSamplerOptions options)
    : state_(std::make_unique<State>(producer, std::move(options))) {}
HostSampler::HostSampler(HostSampler&&) noexcept = default;
HostSampler& HostSampler::operator=(HostSampler&&) noexcept = default;
HostSampler::~HostSampler() = default;

void HostSampler::start() {
  State& state = *state_;
  if (!state.threads.empty())
    return;
  const auto run = [&state](auto sample) {
    state.threads.emplace_back(
        [&state, sample](const std::stop_token& stop) { repeat(stop, state.interval, sample); });
  };
  const detail::SignalsBlocked blocked;
  try {
    if (state.cpu || state.net || state.memory)
      run([&state](const std::stop_token&) { state.sample_kernel(); });
    if (state.storage)
      run([&state](const std::stop_token&) { state.sample_storage(); });
    if (state.gpu)
      run([&state](const std::stop_token& stop) { state.sample_gpu(stop); });
  } catch (...) {
    state.stop(); // all of them or none
    throw;
  }
}

void HostSampler::stop() {
  state_->stop();
}

void HostSampler::sample_once() {
  state_->sample_kernel();
  state_->sample_storage();
  state_->sample_gpu({});
}

std::uint64_t HostSampler::accepted() const noexcept {
  return state_->accepted.load(std::memory_order_relaxed);
}

std::uint64_t HostSampler::refused() const noexcept {
  return state_->refused.load(std::memory_order_relaxed);
}

} // namespace datastream
