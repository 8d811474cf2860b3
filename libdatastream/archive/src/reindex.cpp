#include <datastream/archive/reindex.hpp>

#include "archive_directory.hpp"
#include "errors.hpp"
#include "format/segment_header.hpp"
#include "recovery.hpp"
#include "tip_file.hpp"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

namespace datastream {

std::expected<ArchiveRecovery, ArchiveError> reindex(const std::filesystem::path& directory,
                                                     const ArchiveOptions& options) {
  FileSystem& files = options.files ? *options.files : posix_file_system();
  // Nothing is made, and no directory `index` touched, where there is no archive.
  const auto names = files.list(directory);
  if (!names && !names.error().is(std::errc::no_such_file_or_directory) &&
      !names.error().is(std::errc::not_a_directory))
    return archive_failed(names.error());
  if (!names || std::ranges::none_of(*names, [](const std::string& name) {
        return name == tip_name || format::parse_segment_name(name);
      }))
    return std::unexpected(ArchiveError{
        ArchiveError::Kind::not_an_archive, directory.string() + ": there is no archive here", {}});
  const auto lock = lock_archive(files, directory);
  if (!lock)
    return std::unexpected(lock.error());
  Catalog catalog;
  StoredPositions positions(options.compared_frames);
  auto recovered =
      recover(directory, {.files = files, .metadata = options.metadata, .reindex = true}, catalog,
              positions);
  if (!recovered)
    return std::unexpected(std::move(recovered.error().error));
  if (auto synced = recovered->metadata->sync(); !synced)
    return std::unexpected(std::move(synced.error()));
  return std::move(recovered->report);
}

} // namespace datastream
