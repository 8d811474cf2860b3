#include "cat.hpp"

#include "failure.hpp"

namespace datastream::tool {

Status cat(const CatOptions& options, Output& out) {
  ArchiveReader reader = must(ArchiveReader::open(options.directory));
  Faults faults;
  if (options.by_sequence)
    cat_by_sequence(reader, options, out, faults);
  else
    cat_by_stream(reader, options, out, faults);
  return faults.status();
}

} // namespace datastream::tool
