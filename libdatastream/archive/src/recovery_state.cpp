#include "recovery_state.hpp"

#include "segment_file.hpp"

#include <algorithm>
#include <utility>

namespace datastream {

using namespace format;

WriteFailure RecoveryState::ahead(std::string what) const {
  return {{ArchiveError::Kind::metadata_ahead,
           std::move(what) +
               ": frames that were acknowledged are gone. Look with: datastream-archive "
               "verify " +
               directory.string() + "; to go on without them: datastream-archive reindex " +
               directory.string(),
           {}},
          false};
}

WriteFailure RecoveryState::segment_gone(std::uint64_t number, std::uint64_t durable) const {
  return ahead(
      damaged(path_of(number), 0,
              {"the segment is missing, and was durable up to byte " + std::to_string(durable)})
          .message);
}

std::uint64_t RecoveryState::begin_behind(std::uint64_t segment) const {
  for (auto next = std::ranges::upper_bound(numbers, segment); next != numbers.end(); ++next)
    if (const auto file = SegmentFile::open(files, path_of(*next)))
      return file->header().first_sequence;
  return acknowledged_end();
}

void RecoveryState::hole(ArchiveError::Kind kind, std::string what, std::uint64_t first,
                         std::uint64_t end) {
  ArchiveError error{kind, std::move(what), {}};
  if (first < end)
    error.lost = SequenceRange{{first}, {end - 1}};
  opened.report.holes.push_back(std::move(error));
}

ArchiveError of_another_archive(const std::filesystem::path& segment) {
  return {ArchiveError::Kind::damaged,
          segment.string() + ": is a segment of another archive, or has another segment's name",
          {}};
}

} // namespace datastream
