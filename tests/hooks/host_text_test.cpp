/// The parsers of what the kernel and tools print.

#include "../../runtime_hooks/src/host_cpu_text.hpp"
#include "../../runtime_hooks/src/host_gpu_text.hpp"
#include "../../runtime_hooks/src/host_memory_text.hpp"
#include "../../runtime_hooks/src/host_net_text.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

using namespace datastream;
using namespace datastream::host;

namespace {

constexpr auto largest = "18446744073709551615";

} // namespace

TEST_CASE("times_of_processors_are_read_with_and_without_the_later_fields") {
  const CpuStat stat = parse_cpu_stat("cpu  10 2 3 40 5 6 7 8 9 1\n"
                                      "cpu0 1 2 3 4 5 6 7 8 0 0\n"
                                      "cpu12 1 2 3 4\n"
                                      "intr 1 2 3 4\nctxt 9\n");
  CHECK(stat.all == CpuTicks{10, 2, 3, 40, 5, 6, 7, 8});
  CHECK(stat.cores == std::map<std::uint32_t, CpuTicks>{{0, {1, 2, 3, 4, 5, 6, 7, 8}},
                                                        {12, {1, 2, 3, 4, 0, 0, 0, 0}}});
}

TEST_CASE("lines_of_processors_that_make_no_sense_are_left_out") {
  const CpuStat stat = parse_cpu_stat("cpu 1 2 3\ncpu 1 2 x 4\ncpu -1 2 3 4\n"
                                      "cpux 1 2 3 4\ncpu99999999999 1 2 3 4\n"
                                      "cpu1 1 2 3 4 nonsense\ncpu2\n\ncpu3 1 2 3 4 5 6 7 8");
  CHECK_FALSE(stat.all);
  CHECK(stat.cores.empty());
}

TEST_CASE("shares_of_processor_time_are_parts_of_what_passed") {
  const CpuTicks before{100, 0, 100, 800, 0, 0, 0, 0};
  const CpuTicks after{110, 5, 120, 850, 10, 1, 2, 2};
  const CpuShares shares = shares_between(before, after);
  REQUIRE(shares.total_percent);
  CHECK(*shares.total_percent == doctest::Approx(40));
  CHECK(*shares.idle_percent == doctest::Approx(50));
  CHECK(*shares.iowait_percent == doctest::Approx(10));
  CHECK(*shares.steal_percent == doctest::Approx(2));
  CHECK(ticks_between(before, after) == 100);
}

TEST_CASE("shares_are_absent_when_no_time_passed_or_a_counter_went_backwards") {
  const CpuTicks now{1, 2, 3, 4, 5, 6, 7, 8};
  CHECK(shares_between(now, now) == CpuShares{});
  for (std::size_t kind = 0; kind < now.size(); ++kind) {
    CpuTicks later = {100, 100, 100, 100, 100, 100, 100, 100};
    later[kind] = now[kind] - 1;
    CHECK(shares_between(now, later) == CpuShares{});
    CHECK_FALSE(ticks_between(now, later));
  }
}

TEST_CASE("the_largest_counters_of_processors_do_not_overflow") {
  CpuTicks all;
  all.fill(UINT64_MAX);
  const CpuShares shares = shares_between({}, all);
  REQUIRE(shares.total_percent);
  CHECK(*shares.total_percent == doctest::Approx(75));
  const std::string line = std::string("cpu ") + largest + " 0 0 18446744073709551616\n";
  CHECK_FALSE(parse_cpu_stat(line).all);
}

TEST_CASE("load_averages_are_the_first_three_numbers") {
  const auto load = parse_load_averages("6.04 4.64 3.06 9/138 573\n");
  REQUIRE(load);
  CHECK(load->load1 == 6.04);
  CHECK(load->load5 == 4.64);
  CHECK(load->load15 == 3.06);
  for (const char* odd : {"", "\n", "1 2\n", "1 2 x\n", "nan 1 1\n", "inf 1 1\n", "1e999 1 1\n",
                          "-1 1 1\n", "0.50 0.50 0.5"})
    CHECK_FALSE(parse_load_averages(odd));
}

TEST_CASE("a_process_may_have_any_name") {
  const std::string rest = " S 1 42 42 0 -1 4194560 1 2 3 4 30 12 5 6 20 0 1 0 777 9 8\n";
  for (const std::string& name :
       std::vector<std::string>{"sh", "a b", "((", "x) S 1 2", "", "\xff\n"}) {
    const auto stat = parse_process_stat("42 (" + name + ")" + rest);
    REQUIRE(stat);
    CHECK(stat->name == name);
    CHECK(stat->ticks == 42);
    CHECK(stat->started == 777);
  }
}

TEST_CASE("statistics_of_a_process_that_make_no_sense_are_none") {
  for (const std::string& odd :
       {std::string(), std::string("42"), std::string("42 sh) (S"), std::string("42 (sh) S 1 42\n"),
        std::string("42 (sh) S 1 42 42 0 -1 4194560 1 2 3 4 30 12 5 6 20 0 1 0 77"),
        std::string("42 (sh) S 1 42 42 0 -1 4194560 1 2 3 4 x 12 5 6 20 0 1 0 777 9\n"),
        std::string("42 (sh) S 1 42 42 0 -1 4194560 1 2 3 4 ") + largest +
            " 12 5 6 20 0 1 0 777 9\n"})
    CHECK_FALSE(parse_process_stat(odd));
}

TEST_CASE("the_status_of_a_process_is_read_as_far_as_it_goes") {
  const auto status = parse_process_status("Name:\tkworker/0:1\nUmask:\t0022\nVmSize:\t    2000 "
                                           "kB\nVmRSS:\t    100 kB\nThreads:\t12\n");
  CHECK(status.name == "kworker/0:1");
  CHECK(status.vms_bytes == 2000 * 1024);
  CHECK(status.rss_bytes == 100 * 1024);
  CHECK(status.threads == 12U);
  const auto kernel = parse_process_status("Name:\tkthreadd\nThreads:\t-1\nVmRSS:\t1");
  CHECK(kernel.name == "kthreadd");
  CHECK_FALSE(kernel.threads);
  CHECK_FALSE(kernel.rss_bytes);
  CHECK_FALSE(parse_process_status("VmRSS:\t18446744073709551615 kB\n").rss_bytes);
  CHECK_FALSE(parse_process_status("").name);
}

TEST_CASE("network_interfaces_are_the_lines_with_a_colon_and_sixteen_columns") {
  const auto interfaces = parse_net_dev(
      "Inter-|   Receive                  |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n"
      "    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
      "eth0:100 200 300 400 5 6 7 8 900 1000 1100 1200 13 14 15 16 17\n"
      "word: 1 x 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
      "large: 1 2 3 4 5 6 7 8 9 18446744073709551616 11 12 13 14 15 16\n"
      "short: 1 2 3\n"
      ": 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
      "cut: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 1");
  CHECK(interfaces ==
        std::vector<NetInterfaceRecord>{{"lo", 1, 9, 2, 10, 3, 11, 4, 12},
                                        {"eth0", 100, 900, 200, 1000, 300, 1100, 400, 1200}});
  CHECK(parse_net_dev("").empty());
}

TEST_CASE("memory_is_derived_from_what_the_kernel_counts") {
  const MemoryInfo info =
      parse_memory_info("MemTotal:       1000 kB\nMemFree:    100 kB\nMemAvailable:   400 kB\n"
                        "Cached:  50 kB\nSwapCached: 7 kB\nSwapTotal: 30 kB\nSwapFree: 10 kB\n"
                        "SReclaimable: 5 kB\n");
  CHECK(info.total_bytes == 1000 * 1024);
  CHECK(info.available_bytes == 400 * 1024);
  CHECK(info.used_bytes == 600 * 1024);
  CHECK(info.cached_bytes == 55 * 1024);
  CHECK(info.swap_total_bytes == 30 * 1024);
  CHECK(info.swap_used_bytes == 20 * 1024);
}

TEST_CASE("memory_that_cannot_be_derived_is_absent") {
  const MemoryInfo info = parse_memory_info("MemTotal: 10 kB\nMemAvailable: 11 kB\nCached: x kB\n"
                                            "SwapTotal: 18446744073709551615 kB\nSwapFree: 1");
  CHECK(info.total_bytes == 10 * 1024);
  CHECK(info.available_bytes == 11 * 1024);
  CHECK_FALSE(info.used_bytes);
  CHECK_FALSE(info.cached_bytes);
  CHECK_FALSE(info.swap_total_bytes);
  CHECK_FALSE(info.swap_used_bytes);
  CHECK_FALSE(parse_memory_info("").total_bytes);
}

TEST_CASE("pressure_is_read_with_and_without_its_second_line") {
  const std::string some = "some avg10=1.50 avg60=2.00 avg300=3.00 total=45\n";
  CHECK(parse_pressure(some) == PressureRecord{1.5, 2, 3, 45, {}, {}, {}, {}});
  CHECK(parse_pressure(some + "full avg10=0.50 avg60=0.10 avg300=0.00 total=7\n") ==
        PressureRecord{1.5, 2, 3, 45, 0.5, 0.1, 0, 7});
  CHECK(parse_pressure(some + "full avg10=0.50 avg60=0.1") ==
        PressureRecord{1.5, 2, 3, 45, {}, {}, {}, {}});
  for (const char* odd :
       {"", "full avg10=0 avg60=0 avg300=0 total=7\n", "some avg10=0 avg60=0 avg300=0 total=-7\n",
        "some avg10=nan avg60=0 avg300=0 total=7\n", "some avg10 avg60 avg300 total\n",
        "some avg10=0 avg60=0 avg300=0 total=7"})
    CHECK_FALSE(parse_pressure(odd));
}

TEST_CASE("rows_of_graphics_processors_are_read_field_by_field") {
  const auto gpus = parse_gpus("0, GPU-1, Tesla T4, 10, 15360, 7, 3, 45, 35.50\n"
                               "1, GPU-2, Odd, Name, 10.9, N/A, [Not Supported], , -3, [N/A]\n"
                               "No devices were found\n"
                               "2, GPU-3, half a row, 1, 2\n"
                               "3, GPU-4, T4, 1, 2, 3, 4, 5, 6");
  CHECK(gpus == std::vector<GpuRecord>{{0U, "GPU-1", "Tesla T4", 10, 15360, 7U, 3U, 45, 35.5},
                                       {1U, "GPU-2", "Odd, Name", 10, {}, {}, {}, -3, {}}});
}

TEST_CASE("numbers_of_graphics_processors_that_do_not_fit_are_absent") {
  const auto gpus = parse_gpus("-1, u, n, -1, 1e300, 4294967296, nan, inf, 1e999\n");
  CHECK(gpus == std::vector<GpuRecord>{{{}, "u", "n", {}, {}, {}, {}, {}, {}}});
}

TEST_CASE("rows_of_processes_on_graphics_processors_are_read") {
  CHECK(parse_gpu_processes("GPU-1, 42, python, a b, 512\nGPU-1, x, y, N/A\nGPU-1, 1, z\n\n") ==
        std::vector<GpuProcessRecord>{{"GPU-1", 42U, "python, a b", 512}, {"GPU-1", {}, "y", {}}});
  CHECK(parse_gpu_processes("").empty());
}
