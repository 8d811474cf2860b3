#include <datastream/archive/reindex.hpp>

#include "errors.hpp"
#include "recovery.hpp"

#include <utility>

namespace datastream {

std::expected<ArchiveRecovery, ArchiveError> reindex(const std::filesystem::path& directory,
                                                     const ArchiveOptions& options) {
  FileSystem& files = options.files ? *options.files : posix_file_system();
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
