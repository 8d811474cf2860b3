/// datastream_bench: our parts alone, for work on one of them. Comparisons are in the table.

#include "harness/process.hpp"

#include <benchmark/benchmark.h>

int main(int argc, char** argv) {
  bench::keep_freed_memory();
  bench::become_threaded();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 2;
  benchmark::RunSpecifiedBenchmarks();
}
