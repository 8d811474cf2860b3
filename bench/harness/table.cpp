#include "harness/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace bench {
namespace {

std::vector<Row>& registered() {
  static std::vector<Row> rows;
  return rows;
}

} // namespace

Row::Row(int row_number, void (*row_run)(Table&)) : number(row_number), run(row_run) {
  registered().push_back(*this);
}

std::vector<Row> all_rows() {
  std::vector<Row> rows = registered();
  std::ranges::sort(rows, {}, &Row::number);
  return rows;
}

void Table::print_head() const {
  fmt::print("{:>3}  {:<58} {:>10}  {:<11} {:>10} {:>8} {:>8}  {}\n", "row", "measure", "ours",
             "reference", "its cost", "ratio", "target", "verdict");
}

std::string_view Table::verdict(bool met) const {
  if (options_.quick)
    return "-"; // too few frames to say
  return met ? "met" : "NOT MET";
}

void Table::line(std::string_view measure, const Comparison& comparison,
                 std::optional<double> target) const {
  fmt::print("{:>3}  {:<58} {:>10.2f}  {:<11} {:>10.2f} {:>8.2f} {:>8}  {}\n", row_, measure,
             comparison.our_cost, comparison.reference, comparison.reference_cost, comparison.ratio,
             target ? fmt::format("{:.2f}", *target) : "-",
             target ? verdict(comparison.ratio >= *target) : "-");
  std::fflush(stdout);
}

void Table::line_at_most(std::string_view measure, double our_cost, double limit) const {
  fmt::print("{:>3}  {:<58} {:>10.2f}  {:<11} {:>10} {:>8} {:>8.2f}  {}\n", row_, measure, our_cost,
             "at most", "-", "-", limit, verdict(our_cost <= limit));
  std::fflush(stdout);
}

} // namespace bench
