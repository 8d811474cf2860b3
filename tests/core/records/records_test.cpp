/// The records that the library itself has names for are written as peers write them.

#include <datastream/record.hpp>
#include <datastream/records/actors.hpp>
#include <datastream/records/host_cpu.hpp>
#include <datastream/records/host_gpu.hpp>
#include <datastream/records/host_memory.hpp>
#include <datastream/records/host_net.hpp>
#include <datastream/records/host_storage.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace datastream;

namespace {

template <class R>
void check(const R& record, const std::string& json) {
  CHECK(encode_record(record) == json);
  CHECK(decode_record<R>(json) == record);
}

} // namespace

TEST_CASE("a_record_of_actors_is_written_as_peers_read_it") {
  CHECK(channel_name<ActorsRecord>() == "runtime.actors");
  const ActorsRecord record{3,
                            {{"a1", "counter", 2, "get", 9, false, {}, {{"get", 6}, {"put", 3}}},
                             {"b2", "", 0, {}, 1, true, "out of range", {}, false, 5, 70}},
                            7};
  check(record, R"({"worker_id":3,"actors":[{"address":"a1","name":"counter","mailbox_depth":2,)"
                R"("last_msg_type":"get","messages_processed":9,"poisoned":false,"reason":null,)"
                R"("message_type_counts":[{"ty":"get","count":6},{"ty":"put","count":3}],)"
                R"("exact":true,"resumes":null,"busy_us":null},)"
                R"({"address":"b2","name":"","mailbox_depth":0,"last_msg_type":null,)"
                R"("messages_processed":1,"poisoned":true,"reason":"out of range",)"
                R"("message_type_counts":[],"exact":false,"resumes":5,"busy_us":70}],)"
                R"("omitted_actors":7})");
}

TEST_CASE("a_record_of_processors_is_written_as_peers_read_it") {
  CHECK(channel_name<HostCpuRecord>() == "host.cpu");
  HostCpuRecord record;
  record.seq = 1;
  record.sample_unix_ms = 1700000000000;
  record.query_elapsed_ms = 2;
  record.host.emplace();
  record.host->logical_cpus = 2;
  record.host->total_percent = 12;
  record.host->load1 = 0.5;
  record.cores.emplace_back().index = 1;
  record.processes.push_back({42, "sh", 150.5, 4096, 8192, 3, {}});
  record.error = "half of it";
  check(record,
        R"({"schema":"host.cpu.v1","seq":1,"sample_unix_ms":1700000000000,"query_elapsed_ms":2,)"
        R"("host":{"logical_cpus":2,"total_percent":12.0,"idle_percent":null,)"
        R"("iowait_percent":null,"steal_percent":null,"load1":0.5,"load5":null,"load15":null},)"
        R"("cores":[{"index":1,"total_percent":null,"idle_percent":null,"iowait_percent":null,)"
        R"("steal_percent":null}],"processes":[{"pid":42,"process_name":"sh","cpu_percent":150.5,)"
        R"("rss_bytes":4096,"vms_bytes":8192,"thread_count":3,"error":null}],)"
        R"("omitted_processes":0,"error":"half of it"})");
}

TEST_CASE("a_record_of_network_interfaces_is_written_as_peers_read_it") {
  CHECK(channel_name<HostNetRecord>() == "host.net");
  HostNetRecord record;
  record.interfaces.push_back({"lo", 1, 2, 3, 4, 5, 6, 7, 8});
  check(record,
        R"({"schema":"host.net.v1","seq":0,"sample_unix_ms":0,"interfaces":[{"name":"lo",)"
        R"("rx_bytes":1,"tx_bytes":2,"rx_packets":3,"tx_packets":4,"rx_errors":5,"tx_errors":6,)"
        R"("rx_dropped":7,"tx_dropped":8}],"error":null})");
}

TEST_CASE("a_record_of_memory_is_written_as_peers_read_it") {
  CHECK(channel_name<HostMemoryRecord>() == "host.memory");
  HostMemoryRecord record;
  record.total_bytes = 1024;
  record.pressure = {0.5, 0, 0, 12, {}, {}, {}, 3};
  check(record,
        R"({"schema":"host.memory.v1","seq":0,"sample_unix_ms":0,"query_elapsed_ms":null,)"
        R"("total_bytes":1024,"available_bytes":null,"used_bytes":null,"cached_bytes":null,)"
        R"("swap_total_bytes":null,"swap_used_bytes":null,"pressure":{"some_avg10":0.5,)"
        R"("some_avg60":0.0,"some_avg300":0.0,"some_total_us":12,"full_avg10":null,)"
        R"("full_avg60":null,"full_avg300":null,"full_total_us":3},"error":null})");
}

TEST_CASE("a_record_of_file_systems_is_written_as_peers_read_it") {
  CHECK(channel_name<HostStorageRecord>() == "host.storage");
  HostStorageRecord record;
  record.filesystems.push_back({"/", 100, 60, 30, 66.5});
  check(record,
        R"({"schema":"host.storage.v1","seq":0,"sample_unix_ms":0,"query_elapsed_ms":null,)"
        R"("filesystems":[{"mount":"/","total_bytes":100,"used_bytes":60,"available_bytes":30,)"
        R"("used_percent":66.5}],"pressure":null,"error":null})");
}

TEST_CASE("a_record_of_graphics_processors_is_written_as_peers_read_it") {
  CHECK(channel_name<HostGpuRecord>() == "host.gpu");
  HostGpuRecord record;
  record.gpus.push_back({0, "GPU-1", "T4", 10, 15360, 7, {}, -3, 35.5});
  record.processes.push_back({"GPU-1", 42, "python", {}});
  check(record,
        R"({"schema":"host.gpu.v1","seq":0,"sample_unix_ms":0,"query_elapsed_ms":null,"gpus":[)"
        R"({"index":0,"uuid":"GPU-1","name":"T4","memory_used_mib":10,"memory_total_mib":15360,)"
        R"("utilization_gpu_percent":7,"utilization_memory_percent":null,"temperature_c":-3,)"
        R"("power_draw_w":35.5}],"processes":[{"gpu_uuid":"GPU-1","pid":42,)"
        R"("process_name":"python","used_memory_mib":null}],"error":null})");
}

TEST_CASE("host_records_of_peers_that_send_less_or_more_are_read") {
  const auto record = decode_record<HostCpuRecord>(
      R"({"schema":"host.cpu.v1","seq":3,"host":{"logical_cpus":4,"temperature":60},"new":{}})");
  REQUIRE(record);
  CHECK(record->seq == 3);
  CHECK(record->host->logical_cpus == 4);
  CHECK_FALSE(record->host->total_percent);
  CHECK(record->cores.empty());
}
