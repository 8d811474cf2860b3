/// datastream_bench_growth: every cost of row 20 at five sizes, one line each: things, part, unit,
/// size and median cost, with tabs between them. `plot.py` draws them.

#include "growth/growth.hpp"
#include "harness/compare.hpp"
#include "harness/process.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdio>
#include <map>
#include <vector>

int main() {
  using namespace bench;
  constexpr int rounds = 5;
  keep_freed_memory();
  become_threaded();
  for (const Growth& growth : all_growth()) {
    std::map<std::size_t, std::vector<double>> costs;
    for (int round = 0; round < rounds; ++round)
      for (const std::size_t size : sizes_up_to(growth.largest))
        costs[size].push_back(growth.cost(size, growth.largest));
    for (const auto& [size, of_size] : costs)
      fmt::print("{}\t{}\t{}\t{}\t{:.2f}\n", growth.things, growth.part, growth.unit, size,
                 quantile(of_size, 0.5));
    std::fflush(stdout);
  }
}
