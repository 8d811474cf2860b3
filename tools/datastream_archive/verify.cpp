#include "commands.hpp"
#include "failure.hpp"

#include <datastream/archive/archive_reader.hpp>

#include <string>

namespace datastream::tool {

void verify(const std::filesystem::path& directory, Output& out, Faults& faults) {
  ArchiveReader reader = must(ArchiveReader::open(directory));
  const auto found = reader.verify();
  for (const ArchiveError& fault : found)
    faults.note(fault);
  for (const ArchiveError& fault : found)
    out.line(to_text(fault));
  if (found.empty())
    out.line("all is well up to sequence " + std::to_string(reader.last().value));
}

} // namespace datastream::tool
