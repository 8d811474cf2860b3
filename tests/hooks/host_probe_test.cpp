#include "../../runtime_hooks/src/host_file.hpp"
#include "temporary_folder.hpp"

#include <datastream/hooks/host_probe.hpp>
#include <datastream/record.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <eventually.hpp>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

HostProbe probe_of(const TemporaryFolder& folder, bool processes = false) {
  return HostProbe({.proc = folder.path(), .processes = processes});
}

std::string process_stat(int pid, const std::string& name, int user, int system, int started) {
  return std::to_string(pid) + " (" + name + ") S 1 1 1 0 -1 0 1 2 3 4 " + std::to_string(user) +
         " " + std::to_string(system) + " 0 0 20 0 1 0 " + std::to_string(started) + " 9 8\n";
}

bool contains(const std::optional<std::string>& error, std::string_view text) {
  return error && error->find(text) != std::string::npos;
}

/// Says what the tool says for either query.
std::string tool(const TemporaryFolder& folder, const std::string& gpus,
                 const std::string& processes) {
  return folder.write_script("nvidia-smi", "case $1 in\n--query-gpu=*) " + gpus +
                                               ";;\n--query-compute-apps=*) " + processes +
                                               ";;\n*) exit 77;;\nesac\n"
                                               "[ \"$2\" = --format=csv,noheader,nounits ]");
}

} // namespace

TEST_CASE("shares_of_processor_time_need_two_samples") {
  const TemporaryFolder folder;
  folder.write("loadavg", "0.50 0.25 0.10 1/2 3\n");
  folder.write("stat", "cpu 100 0 0 100\ncpu0 50 0 0 50\ncpu1 50 0 0 50\n");
  HostProbe probe = probe_of(folder);
  const HostCpuRecord first = probe.cpu();
  CHECK(first.schema == "host.cpu.v1");
  CHECK(first.seq == 0);
  CHECK_FALSE(first.error);
  CHECK(first.query_elapsed_ms);
  REQUIRE(first.host);
  CHECK(first.host->logical_cpus == 2);
  CHECK(first.host->load15 == 0.1);
  CHECK_FALSE(first.host->total_percent);
  REQUIRE(first.cores.size() == 2);
  CHECK_FALSE(first.cores[0].total_percent);

  folder.write("stat", "cpu 130 0 0 170\ncpu0 50 0 0 150\ncpu1 80 0 0 20\n");
  const HostCpuRecord second = probe.cpu();
  CHECK(second.seq == 1);
  CHECK(second.host->total_percent == 30);
  CHECK(second.host->idle_percent == 70);
  CHECK(second.cores[0].total_percent == 0);
  CHECK_FALSE(second.cores[1].total_percent); // its idle time went backwards
}

TEST_CASE("a_processor_that_comes_later_has_no_share_at_first") {
  const TemporaryFolder folder;
  folder.write("loadavg", "0 0 0 1/2 3\n");
  folder.write("stat", "cpu 1 0 0 1\ncpu0 1 0 0 1\n");
  HostProbe probe = probe_of(folder);
  probe.cpu();
  folder.write("stat", "cpu 2 0 0 2\ncpu0 2 0 0 2\ncpu7 1 0 0 1\n");
  const HostCpuRecord record = probe.cpu();
  REQUIRE(record.cores.size() == 2);
  CHECK(record.cores[0].total_percent == 50);
  CHECK(record.cores[1].index == 7);
  CHECK_FALSE(record.cores[1].total_percent);
}

TEST_CASE("a_sample_that_failed_does_not_disturb_the_next_one") {
  const TemporaryFolder folder;
  folder.write("loadavg", "0 0 0 1/2 3\n");
  folder.write("stat", "cpu 0 0 0 0\n");
  HostProbe probe = probe_of(folder);
  probe.cpu();
  for (const char* strange : {"", "cpu 1 2", "\xff\xfe garbage\n", "intr 1 2 3 4\n"}) {
    folder.write("stat", strange);
    const HostCpuRecord record = probe.cpu();
    CHECK(contains(record.error, "stat: has no line for all processors"));
    CHECK_FALSE(record.host);
  }
  folder.write("stat", "cpu 25 0 0 75\n");
  CHECK(probe.cpu().host->total_percent == 25);
}

TEST_CASE("processors_without_load_averages_are_a_record_with_an_error") {
  const TemporaryFolder folder;
  folder.write("stat", "cpu 1 0 0 1\n");
  HostProbe probe = probe_of(folder);
  const HostCpuRecord missing = probe.cpu();
  CHECK(missing.host);
  CHECK(contains(missing.error, "loadavg: No such file or directory"));
  folder.write("loadavg", "much\n");
  CHECK(contains(probe.cpu().error, "loadavg: has no load averages"));
}

TEST_CASE("every_source_that_is_missing_gives_a_record_with_its_error") {
  const TemporaryFolder folder;
  HostProbe probe({.proc = folder.path() / "nowhere",
                   .processes = true,
                   .mounts = {(folder.path() / "no mount").string()},
                   .nvidia_smi = "datastream-no-such-program"});
  for (std::uint64_t seq = 0; seq < 3; ++seq) {
    const HostCpuRecord cpu = probe.cpu();
    CHECK(contains(cpu.error, "nowhere/stat: No such file or directory"));
    CHECK(cpu.seq == seq);
    CHECK_FALSE(cpu.query_elapsed_ms);
    const HostNetRecord net = probe.net();
    CHECK(contains(net.error, "nowhere/net/dev: No such file or directory"));
    CHECK(net.seq == seq);
    const HostMemoryRecord memory = probe.memory();
    CHECK(contains(memory.error, "nowhere/meminfo: No such file or directory"));
    CHECK(memory.seq == seq);
    CHECK_FALSE(memory.query_elapsed_ms);
    const HostStorageRecord storage = probe.storage();
    CHECK(contains(storage.error, "no mount: No such file or directory"));
    CHECK(storage.seq == seq);
    const HostGpuRecord gpu = probe.gpu();
    CHECK(gpu.error == "datastream-no-such-program: No such file or directory");
    CHECK(gpu.seq == seq);
    CHECK_FALSE(gpu.query_elapsed_ms);
  }
}

TEST_CASE("a_source_that_is_no_file_or_is_huge_gives_a_record_with_its_error") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "stat");
  std::filesystem::create_directories(folder.path() / "net");
  REQUIRE(::mkfifo((folder.path() / "net" / "dev").c_str(), 0600) == 0);
  folder.write("meminfo", std::string(host::file_bytes + 1, '\n'));
  HostProbe probe = probe_of(folder);
  CHECK(contains(probe.cpu().error, "stat: Is a directory"));
  CHECK(contains(probe.net().error, "dev: has no interfaces")); // does not wait for a writer
  CHECK(contains(probe.memory().error, "meminfo: File too large"));
}

TEST_CASE("a_file_of_just_the_bound_is_read") {
  const TemporaryFolder folder;
  const auto file = folder.write("large", std::string(host::file_bytes, 'x'));
  const auto text = host::read_file(file);
  REQUIRE(text);
  CHECK(text->size() == host::file_bytes);
  folder.write("empty", "");
  CHECK(host::read_file(folder.path() / "empty")->empty());
}

TEST_CASE("processes_are_listed_only_when_they_are_asked_for") {
  const TemporaryFolder folder;
  folder.write("loadavg", "0 0 0 1/2 3\n");
  folder.write("stat", "cpu 100 0 0 100\ncpu0 1 0 0 1\ncpu1 1 0 0 1\n");
  folder.write("42/stat", process_stat(42, "sh", 10, 5, 7));
  folder.write("42/status", "Name:\tshell\nVmSize:\t2000 kB\nVmRSS:\t100 kB\nThreads:\t3\n");
  folder.write("7/stat", process_stat(7, "no name", 0, 0, 1));
  folder.write("7/status", "Threads:\t1\n");
  folder.write("9/status", "Name:\tgone\n");
  folder.write("11/stat", "nonsense");
  folder.write("11/status", "");
  folder.write("self/stat", "x");
  HostProbe without = probe_of(folder);
  CHECK(without.cpu().processes.empty());

  HostProbe probe = probe_of(folder, true);
  const HostCpuRecord first = probe.cpu();
  CHECK_FALSE(first.error);
  REQUIRE(first.processes.size() == 4);
  CHECK(first.processes[0] == CpuProcessRecord{7, "no name", {}, {}, {}, 1, {}});
  CHECK(first.processes[1].pid == 9);
  CHECK(first.processes[1].process_name.empty());
  CHECK(contains(first.processes[1].error, "9/stat: No such file or directory"));
  CHECK(contains(first.processes[2].error, "11/stat: is no statistics"));
  CHECK(first.processes[3] == CpuProcessRecord{42, "shell", {}, 100 * 1024, 2000 * 1024, 3, {}});

  folder.write("stat", "cpu 200 0 0 200\ncpu0 1 0 0 1\ncpu1 1 0 0 1\n");
  folder.write("42/stat", process_stat(42, "sh", 100, 65, 7));
  folder.write("7/stat", process_stat(7, "another with that pid", 90, 0, 2));
  const HostCpuRecord second = probe.cpu();
  CHECK_FALSE(second.processes[0].cpu_percent);
  CHECK(second.processes[3].cpu_percent == 150); // 150 of 200 ticks, of two processors

  folder.write("stat", "cpu 300 0 0 300\ncpu0 1 0 0 1\ncpu1 1 0 0 1\n");
  folder.write("42/stat", process_stat(42, "sh", 100, 64, 7));
  CHECK_FALSE(probe.cpu().processes[3].cpu_percent); // went backwards
}

TEST_CASE("of_too_many_processes_the_busiest_are_listed") {
  const TemporaryFolder folder;
  folder.write("loadavg", "0 0 0 1/2 3\n");
  folder.write("stat", "cpu 0 0 0 0\ncpu0 0 0 0 0\n");
  // Processes of three kinds, each with files of its own.
  for (const char* kind : {"busy", "idle", "idle and small"}) {
    folder.write(std::string(kind) + "/stat", process_stat(1, "p", 0, 0, 1));
    folder.write(std::string(kind) + "/status",
                 std::string("VmRSS:\t") + (kind == std::string("idle and small") ? "1" : "100") +
                     " kB\n");
  }
  const int count = static_cast<int>(defaults::host_processes) + 3;
  for (int pid = 1; pid <= count; ++pid)
    std::filesystem::create_directory_symlink(pid >= 5   ? "busy"
                                              : pid == 2 ? "idle and small"
                                                         : "idle",
                                              folder.path() / std::to_string(pid));
  HostProbe probe = probe_of(folder, true);
  probe.cpu();
  folder.write("stat", "cpu 1000 0 0 0\ncpu0 1000 0 0 0\n");
  folder.write("busy/stat", process_stat(1, "p", 1, 0, 1));
  const HostCpuRecord record = probe.cpu();
  CHECK(record.processes.size() == defaults::host_processes);
  CHECK(record.omitted_processes == 3);
  CHECK(std::ranges::is_sorted(record.processes, {}, &CpuProcessRecord::pid));
  // All that were busy, and one of the four idle ones, which is not the smallest.
  CHECK(record.processes.front().pid < 5);
  CHECK(record.processes.front().pid != 2);
  CHECK(record.processes[1].pid == 5);
}

TEST_CASE("memory_has_its_pressure_where_the_kernel_measures_it") {
  const TemporaryFolder folder;
  folder.write("meminfo", "MemTotal: 100 kB\nMemAvailable: 40 kB\n");
  HostProbe probe = probe_of(folder);
  const HostMemoryRecord without = probe.memory();
  CHECK(without.used_bytes == 60 * 1024);
  CHECK_FALSE(without.pressure);
  CHECK_FALSE(without.error);
  folder.write("pressure/memory", "some avg10=1.00 avg60=0.00 avg300=0.00 total=5\n");
  CHECK(probe.memory().pressure->some_avg10 == 1);
  folder.write("pressure/memory", "none\n");
  const HostMemoryRecord strange = probe.memory();
  CHECK(strange.used_bytes == 60 * 1024);
  CHECK(contains(strange.error, "pressure/memory: has no pressure"));
  folder.write("meminfo", "MemTota");
  CHECK(contains(probe.memory().error, "meminfo: has no total"));
}

TEST_CASE("file_systems_are_those_of_the_given_mounts") {
  const TemporaryFolder folder;
  folder.write("pressure/io", "some avg10=0.00 avg60=2.00 avg300=0.00 total=5\n");
  HostProbe probe(
      {.proc = folder.path(), .mounts = {"/", "/no/such/mount", folder.path().string()}});
  const HostStorageRecord record = probe.storage();
  REQUIRE(record.filesystems.size() == 2);
  for (const FilesystemRecord& filesystem : record.filesystems) {
    CHECK(filesystem.total_bytes > 0);
    CHECK(filesystem.used_bytes <= filesystem.total_bytes);
    CHECK(filesystem.available_bytes <= filesystem.total_bytes);
    REQUIRE(filesystem.used_percent);
    CHECK(*filesystem.used_percent >= 0);
    CHECK(*filesystem.used_percent <= 100);
  }
  CHECK(record.filesystems[1].mount == folder.path().string());
  CHECK(record.error == "/no/such/mount: No such file or directory");
  CHECK(record.pressure->some_avg60 == 2);
}

TEST_CASE("graphics_processors_are_what_the_tool_prints") {
  const TemporaryFolder folder;
  HostProbe probe({.nvidia_smi = tool(folder, "echo '0, GPU-1, T4, 10, 15360, 7, 3, 45, 35.5'",
                                      "echo 'GPU-1, 42, python, 512'")});
  const HostGpuRecord record = probe.gpu();
  CHECK_FALSE(record.error);
  CHECK(record.query_elapsed_ms);
  CHECK(record.gpus == std::vector<GpuRecord>{{0U, "GPU-1", "T4", 10, 15360, 7U, 3U, 45, 35.5}});
  CHECK(record.processes == std::vector<GpuProcessRecord>{{"GPU-1", 42U, "python", 512}});
}

TEST_CASE("a_tool_for_graphics_processors_that_fails_is_quoted") {
  const TemporaryFolder folder;
  const std::string half = tool(folder, "echo '0, GPU-1, T4, 1, 2, 3, 4, 5, 6'",
                                "echo 'not supported'; echo more; exit 6");
  const HostGpuRecord record = HostProbe({.nvidia_smi = half}).gpu();
  CHECK(record.gpus.size() == 1);
  CHECK(record.error == half + ": exit status 6: not supported");
  CHECK(record.query_elapsed_ms);
}

TEST_CASE("a_tool_for_graphics_processors_that_hangs_is_ended") {
  const TemporaryFolder folder;
  const std::string hanging = tool(folder, "exec sleep 1000", "exit 1");
  HostProbe probe({.nvidia_smi = hanging, .gpu_timeout = 200ms});
  const HostGpuRecord record = probe.gpu();
  CHECK(record.error == hanging + ": took too long");
  CHECK_FALSE(record.query_elapsed_ms);
  CHECK(record.gpus.empty());
  // However long it may take, it does not overflow.
  HostProbe patient({.nvidia_smi = tool(folder, "true", "true"),
                     .gpu_timeout = std::chrono::milliseconds::max()});
  CHECK_FALSE(patient.gpu().error);
}

TEST_CASE("samples_of_this_host_are_plausible") {
  HostProbe probe({.processes = true});
  const HostCpuRecord before = probe.cpu();
  // Until some ticks have passed.
  std::optional<HostCpuRecord> after;
  REQUIRE(eventually([&] {
    after = probe.cpu();
    return after->host && after->host->total_percent.has_value();
  }));
  CHECK_FALSE(after->error);
  CHECK(after->sample_unix_ms >= before.sample_unix_ms);
  CHECK(after->sample_unix_ms > 1'700'000'000'000);
  CHECK(after->host->logical_cpus >= 1);
  CHECK(after->cores.size() == after->host->logical_cpus);
  CHECK(*after->host->total_percent + *after->host->idle_percent + *after->host->iowait_percent ==
        doctest::Approx(100));
  const auto self = std::ranges::find(after->processes, static_cast<std::uint32_t>(::getpid()),
                                      &CpuProcessRecord::pid);
  REQUIRE(self != after->processes.end());
  CHECK(self->rss_bytes.value_or(0) > 100'000);
  CHECK(self->thread_count.value_or(0) >= 1);

  const HostNetRecord net = probe.net();
  CHECK_FALSE(net.error);
  CHECK(std::ranges::find(net.interfaces, "lo", &NetInterfaceRecord::name) != net.interfaces.end());

  const HostMemoryRecord memory = probe.memory();
  CHECK_FALSE(memory.error);
  CHECK(memory.total_bytes > 64U << 20U);
  CHECK(*memory.available_bytes <= *memory.total_bytes);
  CHECK(*memory.used_bytes + *memory.available_bytes == *memory.total_bytes);

  const HostStorageRecord storage = probe.storage();
  CHECK_FALSE(storage.error);
  REQUIRE(storage.filesystems.size() == 1);
  CHECK(storage.filesystems[0].mount == "/");

  // Whatever this host has, a record can be written and read.
  const HostGpuRecord gpu = probe.gpu();
  CHECK(gpu.query_elapsed_ms.has_value() != (gpu.error.has_value() && gpu.gpus.empty()));
  CHECK(decode_record<HostGpuRecord>(encode_record(gpu)) == gpu);
  CHECK(decode_record<HostMemoryRecord>(encode_record(memory)) == memory);
  CHECK(decode_record<HostNetRecord>(encode_record(net)) == net);
  CHECK(decode_record<HostStorageRecord>(encode_record(storage)) == storage);
  CHECK(decode_record<HostCpuRecord>(encode_record(*after)) == *after);
}
