/// datastream_bench_table: ours against the references, one line a measure.

#include "harness/table.hpp"
#include "harness/process.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

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

/// The whole of the text, as a number.
std::optional<int> number_in(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

/// Names those that no row has: a build without some parts has fewer rows.
bool are_known(const std::set<int>& numbers, const std::vector<bench::Row>& rows) {
  bool known = true;
  for (const int number : numbers)
    if (std::ranges::find(rows, number, &bench::Row::number) == rows.end()) {
      std::fprintf(stderr, "no row of this program has the number %d\n", number);
      known = false;
    }
  return known;
}

} // namespace

int main(int argc, char** argv) {
  bench::Options options;
  std::set<int> selected;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--quick")
      options.quick = true;
    else if (argument == "--all-sizes")
      options.all_sizes = true;
    else if (const auto number = number_in(argument))
      selected.insert(*number);
    else
      return usage(argv[0]);
  }
  const std::vector<bench::Row> rows = bench::all_rows();
  if (!are_known(selected, rows))
    return 2;

  bench::keep_freed_memory();
  bench::become_threaded();
  bench::Table table{options};
  table.print_head();
  for (const bench::Row& row : rows)
    if (selected.empty() || selected.contains(row.number)) {
      table.begin_row(row.number);
      row.run(table);
    }
}
