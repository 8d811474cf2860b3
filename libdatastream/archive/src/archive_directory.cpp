#include "archive_directory.hpp"

#include "errors.hpp"
#include "tip_file.hpp"

#include <system_error>
#include <utility>

namespace datastream {

namespace {

/// Each is durable before there is another one in it. Of those that are there already, since a
/// crash perhaps, only the innermost may not be.
FileResult<void> create_durably(FileSystem& files, const std::filesystem::path& directory) {
  const auto outer = directory / ".."; // also where that is a link, or ends with a slash or a dot
  auto made = files.create_directory(directory);
  if (!made && made.error().is(std::errc::no_such_file_or_directory)) {
    const std::filesystem::path parent =
        (directory.has_filename() ? directory : directory.parent_path()).parent_path();
    if (parent.empty())
      return made;
    if (auto parent_made = create_durably(files, parent); !parent_made)
      return parent_made;
    made = files.create_directory(directory);
  } else if (made) {
    // Where this process may not look, no crash has left anything of it.
    if (auto synced = files.sync_directory(outer / "..");
        !synced && !synced.error().is(std::errc::permission_denied))
      return synced;
  }
  if (!made)
    return made;
  return files.sync_directory(outer);
}

} // namespace

std::expected<void, ArchiveError> create_archive_directory(FileSystem& files,
                                                           const std::filesystem::path& directory) {
  if (const auto tip = read_tip(files, directory); tip && *tip)
    return {}; // which was written when that was done
  if (const auto made = create_durably(files, directory); !made)
    return archive_failed(made.error());
  return {};
}

std::expected<std::unique_ptr<FileLock>, ArchiveError>
lock_archive(FileSystem& files, const std::filesystem::path& directory) {
  auto lock = files.lock(directory / "LOCK");
  if (lock)
    return std::move(*lock);
  if (!lock.error().is(std::errc::resource_unavailable_try_again))
    return archive_failed(lock.error());
  return std::unexpected(
      ArchiveError{ArchiveError::Kind::locked,
                   directory.string() + ": somebody else has this archive open for writing",
                   {}});
}

} // namespace datastream
