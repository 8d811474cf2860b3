/// Row 18: memory that a store takes for a frame beyond its payload, in bytes: what a process that
/// does nothing else has resident (`store_memory.cpp`).

#include "harness/compare.hpp"
#include "harness/require.hpp"
#include "harness/table.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace bench;

Side side(std::string_view store, std::size_t size, std::size_t frames) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  return {std::string(store), [command = fmt::format("'{}/datastream_bench_store_memory' {} {} {}",
                                                     folder.string(), store, size, frames)] {
            std::FILE* output = ::popen(command.c_str(), "r");
            double bytes = 0;
            require(output && std::fscanf(output, "%lf", &bytes) == 1, "the store was measured");
            require(::pclose(output) == 0, "the measuring process succeeded");
            return bytes;
          }};
}

void measure(Table& table, std::size_t size, std::optional<double> target) {
  const std::size_t frames = table.frames(1'000'000);
  const std::array references{side("simple", size, frames)};
  for (const std::string_view ours : {"batches", "copies"})
    table.line(fmt::format("bytes a stored frame beyond its payload, {}, {} B", ours, size),
               compare(side(ours, size, frames), references, table.rounds()).front(), target);
}

void store_memory(Table& table) {
  measure(table, 120, 3.0);
  if (table.all_sizes()) {
    measure(table, 64, {});
    measure(table, 1024, {});
  }
}

const Row row{18, store_memory};

} // namespace
