#include "errors.hpp"

#include <cerrno>
#include <utility>

namespace datastream {

ArchiveError to_archive_error(const FileError& error) {
  using Kind = ArchiveError::Kind;
  Kind kind = Kind::io;
  if (error.is(std::errc::no_space_on_device) || error.code.value() == EDQUOT)
    kind = Kind::no_room;
  else if (error.is(std::errc::no_such_file_or_directory))
    kind = Kind::missing;
  return {kind, error.message(), {}};
}

ArchiveError damaged(const std::filesystem::path& path, std::uint64_t offset,
                     const format::FormatError& error) {
  return {ArchiveError::Kind::damaged,
          path.string() + " at byte " + std::to_string(offset) + ": " + error.what,
          {}};
}

ArchiveError costing(ArchiveError error, std::uint64_t begin, std::uint64_t end) {
  if (begin < end)
    error.lost = SequenceRange{{begin}, {end - 1}};
  return error;
}

} // namespace datastream
