#pragma once
/// The file operations of an archive, all of them: what a test replaces to see or to break them.

#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace datastream {

/// An operation that the system refused.
struct FileError {
  std::error_code code;  ///< of the generic category: ENOSPC, EIO, ENOENT, …
  std::string operation; ///< for people: `write`, `fsync`, …
  std::filesystem::path path;

  /// `write /data/tip: No space left on device`
  std::string message() const;
  bool is(std::errc condition) const { return code == condition; }
};

template <class T>
using FileResult = std::expected<T, FileError>;

/// An open file; closed with this object. Operations begin at an offset and have no position of
/// their own.
///
/// Thread safety: `read` and `size` may be called from all threads at once, everything else by one.
class File {
public:
  virtual ~File() = default;

  /// Reads until `into` is full or the file ends; how many bytes that were.
  virtual FileResult<std::size_t> read(std::uint64_t offset, std::span<char> into) = 0;
  /// Writes all parts, one behind the other. After an error any part of them may be written.
  virtual FileResult<void> write(std::uint64_t offset, std::span<const std::string_view> parts) = 0;
  /// Everything written, and the file's size, will survive a power cut.
  virtual FileResult<void> sync() = 0;
  /// Cuts the file to this size.
  virtual FileResult<void> truncate(std::uint64_t size) = 0;
  virtual FileResult<std::uint64_t> size() = 0;
};

/// What one process alone may own; given back with this object.
class FileLock {
public:
  virtual ~FileLock() = default;
};

/// Names that files have. New names, renames and removals survive a power cut only after
/// `sync_directory`.
///
/// Thread safety: any thread.
class FileSystem {
public:
  enum class Mode {
    read,
    update, ///< read and write a file that exists
    create, ///< read and write a file that must not exist
  };

  virtual ~FileSystem() = default;

  virtual FileResult<std::unique_ptr<File>> open(const std::filesystem::path& path, Mode mode) = 0;
  /// Replaces what has the name `to`.
  virtual FileResult<void> rename(const std::filesystem::path& from,
                                  const std::filesystem::path& to) = 0;
  virtual FileResult<void> remove(const std::filesystem::path& path) = 0;
  /// Nobody writes this file any more.
  virtual FileResult<void> make_read_only(const std::filesystem::path& path) = 0;
  /// Makes a directory in one that exists; no error if it is there.
  virtual FileResult<void> create_directory(const std::filesystem::path& path) = 0;
  virtual FileResult<void> sync_directory(const std::filesystem::path& path) = 0;
  /// Names of the files in a directory, in no order.
  virtual FileResult<std::vector<std::string>> list(const std::filesystem::path& directory) = 0;
  /// Locks the file, which is made if need be, against every other process and every other holder
  /// in this one. Error: `resource_unavailable_try_again` when somebody has it.
  virtual FileResult<std::unique_ptr<FileLock>> lock(const std::filesystem::path& path) = 0;
};

/// That of the operating system.
FileSystem& posix_file_system();

} // namespace datastream
