/// datastream_bench_table: ours against the references, one line a measure.

#include "harness/table.hpp"
#include "harness/process.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <set>
#include <string_view>
#include <system_error>

namespace {

int usage(const char* program) {
  std::fprintf(
      stderr,
      "usage: %s [--quick] [--all-sizes] [row ...]\n"
      "  --quick      few frames and one round: shows that the rows run, gives no verdict\n"
      "  --all-sizes  64 and 1024 byte payloads too, where a row has one size\n"
      "  row          numbers of the rows to run; all without any\n",
      program);
  return 2;
}

} // namespace

int main(int argc, char** argv) {
  bench::Options options;
  std::set<int> selected;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    int number = 0;
    if (argument == "--quick")
      options.quick = true;
    else if (argument == "--all-sizes")
      options.all_sizes = true;
    else if (std::from_chars(argument.data(), argument.data() + argument.size(), number).ec ==
             std::errc())
      selected.insert(number);
    else
      return usage(argv[0]);
  }

  bench::keep_freed_memory();
  bench::become_threaded();
  bench::Table table{options};
  table.print_head();
  for (const bench::Row& row : bench::all_rows())
    if (selected.empty() || selected.contains(row.number)) {
      table.begin_row(row.number);
      row.run(table);
    }
}
