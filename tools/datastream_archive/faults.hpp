#pragma once
/// What was found to be wrong: each thing said once, on standard error or among the results.

#include "status.hpp"

#include <datastream/archive/archive_error.hpp>

#include <set>
#include <string>
#include <string_view>

namespace datastream::tool {

/// The error with the sequences that it costs, in one line.
std::string to_text(const ArchiveError& error);

/// Says something on standard error.
void say(std::string_view text);

class Faults {
public:
  /// Says it, unless it was said already; returns whether it was not.
  bool report(const ArchiveError& error) { return report(to_text(error)); }
  bool report(const std::string& text);
  /// The results say it.
  void note(const ArchiveError& error) { said_.insert(to_text(error)); }

  Status status() const { return said_.empty() ? Status::all_well : Status::faults; }

private:
  std::set<std::string> said_;
};

} // namespace datastream::tool
