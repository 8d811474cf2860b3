#pragma once
/// What the program's exit status tells.

namespace datastream::tool {

enum class Status {
  all_well = 0,
  faults = 1, ///< something is damaged, missing or bad; what could be done was done
  usage = 2,  ///< the command line is wrong
  failed = 3, ///< it could not be done
};

} // namespace datastream::tool
