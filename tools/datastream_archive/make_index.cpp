#include "commands.hpp"
#include "failure.hpp"

#include <datastream/archive/reindex.hpp>

#include <string>

namespace datastream::tool {

Status make_index(const std::filesystem::path& directory, Output& out) {
  const ArchiveRecovery done = must(reindex(directory));
  Faults faults;
  for (const ArchiveError& hole : done.holes)
    faults.report(hole);
  if (done.torn_bytes != 0)
    out.line("cut off " + std::to_string(done.torn_bytes) + " bytes that were never acknowledged");
  out.line("the index was made anew");
  return faults.status();
}

} // namespace datastream::tool
