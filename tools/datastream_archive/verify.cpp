#include "commands.hpp"
#include "failure.hpp"

#include <datastream/archive/archive_reader.hpp>

#include <string>

namespace datastream::tool {

Status verify(const std::filesystem::path& directory, Output& out) {
  ArchiveReader reader = must(ArchiveReader::open(directory));
  const auto faults = reader.verify();
  for (const ArchiveError& fault : faults)
    out.line(to_text(fault));
  if (faults.empty()) {
    out.line("all is well up to sequence " + std::to_string(reader.last().value));
    return Status::all_well;
  }
  return Status::faults;
}

} // namespace datastream::tool
