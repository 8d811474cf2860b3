#pragma once
/// A small archive with fixed names and times, put together from the parts of the format: the files
/// in `golden/` as this library would write them today.

#include <map>
#include <string>

namespace datastream::test {

/// Sequences 1 to 3 in a sealed segment, none of whose blocks is compressed; 4 to 10 in one that is
/// not sealed, whose blocks are; in that one, bytes beyond the tip.
struct GoldenArchive {
  std::map<std::string, std::string> files; ///< contents by name
  std::string sealed;                       ///< the names of its segments
  std::string active;
  std::size_t durable = 0; ///< bytes of the active segment before which all is durable
};

/// Throws `std::bad_alloc`.
GoldenArchive golden_archive();

} // namespace datastream::test
