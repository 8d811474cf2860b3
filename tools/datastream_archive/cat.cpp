#include "cat.hpp"

#include "failure.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace datastream::tool {

void check_channels(const CatOptions& options, const DatastreamSnapshot& catalog) {
  std::vector<std::string> names = options.channels;
  for (const auto& name : {options.lines, options.series})
    if (name)
      names.push_back(*name);
  for (const std::string& name : names)
    if (std::ranges::find(catalog.channels, name, &ChannelDescriptor::name) ==
        catalog.channels.end())
      throw Failure("no stream has a channel of the name " + name);
}

void cat(const CatOptions& options, Output& out, Faults& faults) {
  ArchiveReader reader = must(ArchiveReader::open(options.directory));
  if (options.by_sequence)
    cat_by_sequence(reader, options, out, faults);
  else
    cat_by_stream(reader, options, out, faults);
}

} // namespace datastream::tool
