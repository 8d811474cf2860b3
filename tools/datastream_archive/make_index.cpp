#include "commands.hpp"
#include "failure.hpp"

#include <datastream/archive/reindex.hpp>

#include <string>

namespace datastream::tool {

void make_index(const std::filesystem::path& directory, Output& out, Faults& faults) {
  const ArchiveRecovery done = must(reindex(directory));
  for (const ArchiveError& hole : done.holes)
    faults.report(hole);
  if (done.torn_bytes != 0)
    out.line("cut off " + std::to_string(done.torn_bytes) + " bytes that were never acknowledged");
  out.line("the index was made anew");
}

} // namespace datastream::tool
