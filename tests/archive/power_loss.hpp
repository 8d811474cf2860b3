#pragma once
/// Cuts the power at every moment of a recorded run, and looks at what is left.

#include "recorded_run.hpp"
#include "simulated_disk.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace datastream::test {

/// What may be left at one moment, and must hold of it.
struct CutState {
  std::size_t event = 0; ///< how many events had happened
  std::string survival;  ///< for people: what the disk has kept of what was not synced
  DiskImage image;
  Promised promised;
};

/// A power cut with one of its legal outcomes, for people and for random choices.
struct NamedSurvival {
  const char* name;
  Survival survival;
};

/// Each thing that was not synced there or not, in the few ways that are the same at each moment.
std::vector<NamedSurvival> plain_survivals();
/// Those that are drawn.
std::vector<NamedSurvival> random_survivals();
/// RocksDB's directory lost as a whole, and the rest in each way.
std::vector<NamedSurvival> survivals_without_index();

struct CutOptions {
  std::vector<NamedSurvival> survivals;
  std::size_t draws = 1; ///< of each, at each moment
  std::uint64_t seed = 1;
};

/// Calls `look` with every state after a power cut since the run began, but for those that were
/// looked at before with as much promised. Ends when that returns false. Returns the number of
/// calls.
std::size_t for_each_cut(const RecordedRun& run, const CutOptions& options,
                         const std::function<bool(const CutState&)>& look);
/// The same, had the disk been told `events` instead of what the run told it.
std::size_t for_each_cut(const RecordedRun& run, const std::deque<DiskEvent>& events,
                         const CutOptions& options,
                         const std::function<bool(const CutState&)>& look);

/// Opens an archive on a state, appends everything of the run once more and something new, opens it
/// again, and says what is wrong, if anything is.
std::optional<std::string> fault_in(const CutState& state, const RecordedRun& run);

/// The frames that an archive's segments have, in order; null and what is wrong if they are not all
/// whole with sequences from 1.
std::optional<std::string> read_all(const std::filesystem::path& archive,
                                    std::vector<StoredFrame>& frames);

std::ostream& operator<<(std::ostream& out, const CutState& state);

} // namespace datastream::test
