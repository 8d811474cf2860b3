#pragma once
/// The table of measures: its rows, and the lines that they print.

#include "harness/compare.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct Options {
  bool quick = false;     ///< few frames, few rounds: shows that the rows run, not how fast
  bool all_sizes = false; ///< the other payload sizes too, for information
};

/// Where the lines of one row go, and how much work a row should do.
class Table {
public:
  explicit Table(const Options& options) : options_(options) {}

  void print_head() const;
  /// Called before the lines of a row.
  void begin_row(int number) { row_ = number; }

  /// `full` frames, or a small part of them in a quick run.
  std::size_t frames(std::size_t full) const { return options_.quick ? full / 20 : full; }
  int rounds(int full = 7) const { return options_.quick ? 1 : full; }
  bool all_sizes() const { return options_.all_sizes; }

  /// One line. `target` is what the ratio must reach; none where a line is for information.
  void line(std::string_view measure, const Comparison& comparison,
            std::optional<double> target) const;

  /// One line whose verdict rests on our own cost: it must stay at or below `limit`.
  void line_at_most(std::string_view measure, double our_cost, double limit) const;

private:
  std::string_view verdict(bool met) const;

  Options options_;
  int row_ = 0;
};

/// One row of the table, in a file of its own, which registers it:
///
///     const bench::Row row{1, submit_drain};
struct Row {
  Row(int number, void (*run)(Table&));
  int number;
  void (*run)(Table&);
};

/// All rows of this program, by number.
std::vector<Row> all_rows();

} // namespace bench
