#pragma once
/// Which actors are observed, and how often they are reported.

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace datastream {

struct ObserveOptions {
  /// Names of actors; `*` at the end stands for anything. An actor is observed when a pattern here
  /// and none of `exclude` matches its `name()`.
  std::vector<std::string> include{"*"};
  /// By default the library's own actors and CAF's: an idle program reports nothing.
  std::vector<std::string> exclude{"datastream*",    "caf.*",         "spawn-server",
                                   "config-server",  "printer-actor", "basp-broker",
                                   "middleman-actor"};
  /// A worker reports at most this often, and only when an observed actor has run on it; from 1 ms
  /// to a day.
  std::chrono::milliseconds interval{250};
  /// Actors in one report: those that handled most since the last one. The others are counted, and
  /// reported when they run again.
  std::size_t actors_max = 256;

  bool observes(std::string_view name) const;
};

} // namespace datastream
