#include "write_failure.hpp"

#include <new>
#include <utility>

namespace datastream {

namespace {

template <class Sync>
std::expected<void, WriteFailure> told(Sync sync) noexcept {
  try {
    if (const auto synced = sync(); !synced)
      return std::unexpected(WriteFailure{to_archive_error(synced.error()), true});
    return {};
  } catch (const std::bad_alloc&) {
    return std::unexpected(WriteFailure{error_without_memory("a sync failed"), true});
  }
}

} // namespace

std::expected<void, WriteFailure> sync(File& file) noexcept {
  return told([&] { return file.sync(); });
}

std::expected<void, WriteFailure> sync_directory(FileSystem& files,
                                                 const std::filesystem::path& directory) noexcept {
  return told([&] { return files.sync_directory(directory); });
}

} // namespace datastream
