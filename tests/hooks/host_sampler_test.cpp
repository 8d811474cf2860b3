#include "temporary_folder.hpp"

#include <datastream/hooks/host_sampler.hpp>
#include <datastream/pipe/endpoint.hpp>
#include <datastream/record.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <eventually.hpp>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

const StreamId stream{"node-a", {7}};

/// Everything that was submitted so far, by the channel's name.
class Drained {
public:
  explicit Drained(DatastreamEndpoint& endpoint) : endpoint_(endpoint) {}

  std::map<std::string, std::vector<std::string>>& take() {
    std::vector<FrameBatch> batches;
    endpoint_.drain_directly(batches);
    for (const FrameBatch& batch : batches)
      for (const FrameView& frame : batch)
        payloads_[name(frame.channel)].emplace_back(frame.payload);
    return payloads_;
  }

private:
  std::string name(ChannelId channel) const {
    for (const char* known : {"host.cpu", "host.net", "host.memory", "host.storage", "host.gpu"})
      if (endpoint_.producer().find_channel(known) == channel)
        return known;
    return "?";
  }

  DatastreamEndpoint& endpoint_;
  std::map<std::string, std::vector<std::string>> payloads_;
};

HostSamplerOptions without_gpu() {
  HostSamplerOptions options;
  options.gpu = false;
  return options;
}

} // namespace

TEST_CASE("a_sampler_submits_one_record_of_each_kind_when_asked") {
  DatastreamEndpoint endpoint(stream);
  HostSamplerOptions options;
  options.probe.nvidia_smi = "datastream-no-such-program";
  HostSampler sampler(endpoint.producer(), options);
  sampler.sample_once();
  sampler.sample_once();
  auto payloads = Drained(endpoint).take();
  REQUIRE(payloads.size() == 5);
  for (const auto& [name, records] : payloads)
    CHECK(records.size() == 2);
  CHECK(decode_record<HostCpuRecord>(payloads["host.cpu"][1])->seq == 1);
  CHECK(decode_record<HostCpuRecord>(payloads["host.cpu"][1])->processes.empty());
  CHECK(decode_record<HostNetRecord>(payloads["host.net"][1])->seq == 1);
  CHECK(decode_record<HostMemoryRecord>(payloads["host.memory"][1])->seq == 1);
  CHECK(decode_record<HostStorageRecord>(payloads["host.storage"][1])->seq == 1);
  CHECK(decode_record<HostGpuRecord>(payloads["host.gpu"][1])->seq == 1);
  CHECK(endpoint.register_channel("host.cpu", JsonRecord{"host.cpu"}) ==
        endpoint.producer().find_channel("host.cpu"));
  CHECK(sampler.refused() == 0);
}

TEST_CASE("a_sampler_registers_and_submits_only_what_is_configured") {
  DatastreamEndpoint endpoint(stream);
  HostSamplerOptions options;
  options.cpu = options.net = options.storage = options.gpu = false;
  HostSampler sampler(endpoint.producer(), options);
  sampler.sample_once();
  CHECK(Drained(endpoint).take().size() == 1);
  CHECK(endpoint.producer().find_channel("host.memory"));
  CHECK_FALSE(endpoint.producer().find_channel("host.cpu"));
  CHECK_FALSE(endpoint.producer().find_channel("host.gpu"));
}

TEST_CASE("a_sampler_samples_at_intervals_until_it_is_stopped") {
  DatastreamEndpoint endpoint(stream);
  Drained drained(endpoint);
  HostSamplerOptions options = without_gpu();
  options.interval = 1ms;
  HostSampler sampler(endpoint.producer(), options);
  sampler.start();
  sampler.start(); // is running already
  CHECK(eventually([&] {
    auto& payloads = drained.take();
    return payloads["host.cpu"].size() >= 5 && payloads["host.net"].size() >= 5 &&
           payloads["host.memory"].size() >= 5 && payloads["host.storage"].size() >= 5;
  }));
  sampler.stop();
  const auto count = drained.take()["host.cpu"].size();
  for (std::size_t i = 0; i < count; ++i)
    CHECK(decode_record<HostCpuRecord>(drained.take()["host.cpu"][i])->seq == i);
  sampler.start();
  CHECK(eventually([&] { return drained.take()["host.cpu"].size() > count; }));
}

TEST_CASE("a_sampler_begins_at_once_and_ends_at_once_whatever_its_interval") {
  for (const auto interval : {std::chrono::milliseconds::max(), 3'600'000ms}) {
    DatastreamEndpoint endpoint(stream);
    Drained drained(endpoint);
    HostSamplerOptions options = without_gpu();
    options.interval = interval;
    const auto begin = std::chrono::steady_clock::now();
    {
      HostSampler sampler(endpoint.producer(), options);
      sampler.start();
      CHECK(eventually([&] { return drained.take()["host.memory"].size() == 1; }));
    }
    CHECK(std::chrono::steady_clock::now() - begin < patience);
    CHECK(drained.take()["host.memory"].size() == 1);
  }
}

TEST_CASE("a_tool_that_hangs_delays_no_other_samples_and_not_the_end") {
  const TemporaryFolder folder;
  DatastreamEndpoint endpoint(stream);
  Drained drained(endpoint);
  HostSamplerOptions options;
  options.interval = 1ms;
  options.probe.nvidia_smi = folder.write_script("nvidia-smi", "exec sleep 1000");
  options.probe.gpu_timeout = 1h;
  const auto begin = std::chrono::steady_clock::now();
  {
    HostSampler sampler(endpoint.producer(), options);
    sampler.start();
    CHECK(eventually([&] {
      return drained.take()["host.cpu"].size() >= 5 && drained.take()["host.storage"].size() >= 5;
    }));
    CHECK(drained.take()["host.gpu"].empty());
  }
  CHECK(std::chrono::steady_clock::now() - begin < patience);
  const auto& gpu = drained.take()["host.gpu"];
  REQUIRE(gpu.size() == 1);
  CHECK(decode_record<HostGpuRecord>(gpu[0])->error == options.probe.nvidia_smi + ": interrupted");
}

TEST_CASE("samples_that_the_mux_refuses_are_counted") {
  DatastreamEndpoint endpoint(stream, {.mux = {.frames = 1}});
  HostSampler sampler(endpoint.producer(), without_gpu());
  sampler.sample_once();
  CHECK(sampler.refused() == 3);
  CHECK(endpoint.ledger().refused.mux_frames_full == 3);
  endpoint.end_stream();
  sampler.sample_once();
  CHECK(sampler.refused() == 7);
}

TEST_CASE("a_host_channel_with_other_content_is_refused_loudly") {
  DatastreamEndpoint endpoint(stream);
  endpoint.register_channel("host.net", Bytes{});
  CHECK_THROWS_AS(HostSampler(endpoint.producer()), std::logic_error);
}

TEST_CASE("a_sampler_can_be_moved_while_it_runs") {
  DatastreamEndpoint endpoint(stream);
  Drained drained(endpoint);
  HostSamplerOptions options = without_gpu();
  options.interval = 1ms;
  std::optional<HostSampler> first(std::in_place, endpoint.producer(), options);
  first->start();
  HostSampler second = std::move(*first);
  first.reset();
  const auto before = drained.take()["host.cpu"].size();
  CHECK(eventually([&] { return drained.take()["host.cpu"].size() > before + 2; }));
}
