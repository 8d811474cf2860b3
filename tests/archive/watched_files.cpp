#include "watched_files.hpp"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace datastream::test {

using Kind = FileOperation::Kind;

/// Names files and passes operations by the watcher.
class Watch {
public:
  Watch(const std::filesystem::path& root, FileWatcher& watcher)
      : root_(std::filesystem::absolute(root).lexically_normal()), watcher_(watcher) {}

  /// Does it, unless the watcher refuses it. `act(bytes)` does as many bytes of a write as it is
  /// told, or the operation, and says whether it succeeded; what it left behind is the result then.
  template <class Act>
  std::errc perform(FileOperation operation, Act act) {
    const std::lock_guard lock(mutex_);
    if (outside(operation.path)) {
      act(operation.bytes.size());
      return {};
    }
    if (const auto known = ids_.find(operation.path); operation.file == 0 && known != ids_.end())
      operation.file = known->second;
    if (const auto verdict = watcher_.judge(operation); verdict.error != std::errc{}) {
      if (verdict.written == 0)
        return verdict.error;
      operation.bytes.resize(verdict.written);
      if (act(verdict.written))
        watcher_.done(std::move(operation));
      return verdict.error;
    }
    if (!act(operation.bytes.size()))
      return {};
    switch (operation.kind) {
    case Kind::create:
      operation.file = ids_[operation.path] = next_id_++;
      break;
    case Kind::rename: {
      const auto known = ids_.find(operation.path);
      const std::uint64_t id = known == ids_.end() ? next_id_++ : known->second;
      if (known != ids_.end())
        ids_.erase(known);
      operation.file = ids_[operation.new_path] = id;
      break;
    }
    case Kind::remove:
      ids_.erase(operation.path);
      break;
    default:
      break;
    }
    watcher_.done(std::move(operation));
    return {};
  }

  std::errc judge_open(const std::filesystem::path& path, FileSystem::Mode mode) {
    const std::lock_guard lock(mutex_);
    return watcher_.judge_open(path, mode);
  }

  std::string below_root(const std::filesystem::path& path) const {
    std::string name =
        std::filesystem::absolute(path).lexically_normal().lexically_relative(root_).string();
    if (name.ends_with('/')) // as it was `nest/archive/..`
      name.pop_back();
    return name == "." ? "" : name;
  }
  std::uint64_t id(const std::string& path) {
    const std::lock_guard lock(mutex_);
    std::uint64_t& known = ids_[path];
    if (known == 0)
      known = next_id_++;
    return known;
  }

private:
  static bool outside(const std::string& path) { return path.starts_with(".."); }

  std::filesystem::path root_;
  FileWatcher& watcher_;
  std::mutex mutex_;
  std::map<std::string, std::uint64_t> ids_;
  /// No two runs have the same.
  static inline std::atomic<std::uint64_t> next_id_{1};
};

namespace {

FileError refused(std::errc error, std::string operation, const std::filesystem::path& path) {
  return {std::make_error_code(error), std::move(operation), path};
}

// ------------------------------------------------------------------------ the archive's own

class WatchedFile : public File {
public:
  WatchedFile(Watch& watch, std::unique_ptr<File> file, std::filesystem::path path)
      : watch_(watch), file_(std::move(file)), path_(std::move(path)),
        name_(watch.below_root(path_)), id_(watch.id(name_)) {}

  FileResult<std::size_t> read(std::uint64_t offset, std::span<char> into) override {
    return file_->read(offset, into);
  }
  FileResult<std::uint64_t> size() override { return file_->size(); }

  FileResult<void> write(std::uint64_t offset, std::span<const std::string_view> parts) override {
    std::string bytes;
    for (const std::string_view part : parts)
      bytes += part;
    return change({.kind = Kind::write, .offset = offset, .bytes = bytes}, "write",
                  [&](std::size_t count) {
                    const std::string_view written[] = {std::string_view(bytes).substr(0, count)};
                    return file_->write(offset, written);
                  });
  }
  FileResult<void> sync() override {
    return change({.kind = Kind::sync}, "fsync", [&](std::size_t) { return file_->sync(); });
  }
  FileResult<void> truncate(std::uint64_t size) override {
    return change({.kind = Kind::truncate, .offset = size}, "truncate",
                  [&](std::size_t) { return file_->truncate(size); });
  }

private:
  template <class Act>
  FileResult<void> change(FileOperation operation, const char* what, Act act) {
    operation.path = name_;
    operation.file = id_;
    FileResult<void> result;
    const std::errc error = watch_.perform(std::move(operation), [&](std::size_t count) {
      result = act(count);
      return result.has_value();
    });
    if (error != std::errc{})
      return std::unexpected(refused(error, what, path_));
    return result;
  }

  Watch& watch_;
  std::unique_ptr<File> file_;
  std::filesystem::path path_;
  std::string name_;
  std::uint64_t id_;
};

class WatchedFileSystem : public FileSystem {
public:
  explicit WatchedFileSystem(Watch& watch) : watch_(watch) {}

  FileResult<std::unique_ptr<File>> open(const std::filesystem::path& path, Mode mode) override {
    if (mode != Mode::create) {
      if (const std::errc error = watch_.judge_open(path, mode); error != std::errc{})
        return std::unexpected(refused(error, "open", path));
      return wrap(real_.open(path, mode), path, mode);
    }
    FileResult<std::unique_ptr<File>> file;
    if (auto made = change({.kind = Kind::create}, "open", path,
                           [&] {
                             file = real_.open(path, mode);
                             return file.has_value();
                           });
        !made)
      return std::unexpected(made.error());
    return wrap(std::move(file), path, mode);
  }
  FileResult<void> rename(const std::filesystem::path& from,
                          const std::filesystem::path& to) override {
    return simple({.kind = Kind::rename, .new_path = watch_.below_root(to)}, "rename", from,
                  [&] { return real_.rename(from, to); });
  }
  FileResult<void> remove(const std::filesystem::path& path) override {
    return simple({.kind = Kind::remove}, "remove", path, [&] { return real_.remove(path); });
  }
  FileResult<void> make_read_only(const std::filesystem::path& path) override {
    return simple({.kind = Kind::make_read_only}, "chmod", path,
                  [&] { return real_.make_read_only(path); });
  }
  FileResult<void> create_directory(const std::filesystem::path& path) override {
    if (std::filesystem::is_directory(path))
      return real_.create_directory(path);
    return simple({.kind = Kind::create_directory}, "create directory", path,
                  [&] { return real_.create_directory(path); });
  }
  FileResult<void> sync_directory(const std::filesystem::path& path) override {
    return simple({.kind = Kind::sync_directory}, "fsync", path,
                  [&] { return real_.sync_directory(path); });
  }
  FileResult<std::vector<std::string>> list(const std::filesystem::path& directory) override {
    return real_.list(directory);
  }
  FileResult<std::unique_ptr<FileLock>> lock(const std::filesystem::path& path) override {
    if (std::filesystem::exists(path))
      return real_.lock(path);
    FileResult<std::unique_ptr<FileLock>> lock;
    if (auto made = change({.kind = Kind::create}, "open", path,
                           [&] {
                             lock = real_.lock(path);
                             return lock.has_value();
                           });
        !made)
      return std::unexpected(made.error());
    return lock;
  }

private:
  /// Error: the watcher's. What `act` thinks of its success is its own business.
  template <class Act>
  FileResult<void> change(FileOperation operation, const char* what,
                          const std::filesystem::path& path, Act act) {
    operation.path = watch_.below_root(path);
    const std::errc error =
        watch_.perform(std::move(operation), [&](std::size_t) { return act(); });
    if (error != std::errc{})
      return std::unexpected(refused(error, what, path));
    return {};
  }
  template <class Act>
  FileResult<void> simple(FileOperation operation, const char* what,
                          const std::filesystem::path& path, Act act) {
    FileResult<void> result;
    if (auto changed = change(std::move(operation), what, path,
                              [&] {
                                result = act();
                                return result.has_value();
                              });
        !changed)
      return changed;
    return result;
  }
  FileResult<std::unique_ptr<File>> wrap(FileResult<std::unique_ptr<File>> file,
                                         const std::filesystem::path& path, Mode mode) {
    if (!file || mode == Mode::read)
      return file;
    return std::make_unique<WatchedFile>(watch_, std::move(*file), path);
  }

  Watch& watch_;
  FileSystem& real_ = posix_file_system();
};

// -------------------------------------------------------------------------------- RocksDB's

rocksdb::IOStatus refused(std::errc error) {
  const std::string what = std::make_error_code(error).message();
  return error == std::errc::no_space_on_device ? rocksdb::IOStatus::NoSpace(what)
                                                : rocksdb::IOStatus::IOError(what);
}

template <class Act>
rocksdb::IOStatus perform(Watch& watch, FileOperation operation, Act act) {
  rocksdb::IOStatus status;
  const std::errc error = watch.perform(std::move(operation), [&](std::size_t count) {
    status = act(count);
    return status.ok();
  });
  return error != std::errc{} ? refused(error) : status;
}

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

class WatchedWritableFile : public rocksdb::FSWritableFileOwnerWrapper {
public:
  WatchedWritableFile(Watch& watch, std::unique_ptr<rocksdb::FSWritableFile> file, std::string name,
                      std::uint64_t size)
      : FSWritableFileOwnerWrapper(std::move(file)), watch_(watch), name_(std::move(name)),
        id_(watch.id(name_)), size_(size) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    return perform(watch_,
                   {.kind = Kind::write,
                    .path = name_,
                    .file = id_,
                    .offset = size_,
                    .bytes = data.ToString()},
                   [&](std::size_t count) {
                     const IOStatus status =
                         target()->Append(Slice(data.data(), count), options, debug);
                     size_ += status.ok() ? count : 0;
                     return status;
                   });
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo&,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus PositionedAppend(const Slice&, std::uint64_t, const IOOptions&,
                            IODebugContext*) override {
    return IOStatus::NotSupported("without direct access nobody calls this");
  }
  IOStatus PositionedAppend(const Slice& data, std::uint64_t offset, const IOOptions& options,
                            const rocksdb::DataVerificationInfo&, IODebugContext* debug) override {
    return PositionedAppend(data, offset, options, debug);
  }
  IOStatus Truncate(std::uint64_t size, const IOOptions& options, IODebugContext* debug) override {
    return perform(watch_, {.kind = Kind::truncate, .path = name_, .file = id_, .offset = size},
                   [&](std::size_t) {
                     const IOStatus status = target()->Truncate(size, options, debug);
                     size_ = status.ok() ? size : size_;
                     return status;
                   });
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return perform(watch_, {.kind = Kind::sync, .path = name_, .file = id_},
                   [&](std::size_t) { return target()->Sync(options, debug); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return perform(watch_, {.kind = Kind::sync, .path = name_, .file = id_},
                   [&](std::size_t) { return target()->Fsync(options, debug); });
  }

private:
  Watch& watch_;
  std::string name_;
  std::uint64_t id_;
  std::uint64_t size_;
};

class WatchedDirectory : public rocksdb::FSDirectoryWrapper {
public:
  WatchedDirectory(Watch& watch, std::unique_ptr<rocksdb::FSDirectory> directory, std::string name)
      : FSDirectoryWrapper(std::move(directory)), watch_(watch), name_(std::move(name)) {}

  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return perform(watch_, {.kind = Kind::sync_directory, .path = name_},
                   [&](std::size_t) { return FSDirectoryWrapper::Fsync(options, debug); });
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                               const rocksdb::DirFsyncOptions&) override {
    return Fsync(options, debug);
  }

private:
  Watch& watch_;
  std::string name_;
};

class WatchedRocksFiles : public rocksdb::FileSystemWrapper {
public:
  explicit WatchedRocksFiles(Watch& watch)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), watch_(watch) {}
  const char* Name() const override { return "watched"; }

  IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* result,
                           IODebugContext* debug) override {
    const std::string name = watch_.below_root(path);
    const Kind kind = std::filesystem::exists(path) ? Kind::truncate : Kind::create;
    IOStatus status = perform(watch_, {.kind = kind, .path = name}, [&](std::size_t) {
      return FileSystemWrapper::NewWritableFile(path, options, result, debug);
    });
    if (status.ok())
      *result = std::make_unique<WatchedWritableFile>(watch_, std::move(*result), name, 0);
    return status;
  }
  IOStatus ReopenWritableFile(const std::string&, const rocksdb::FileOptions&,
                              std::unique_ptr<rocksdb::FSWritableFile>*, IODebugContext*) override {
    return unused("ReopenWritableFile");
  }
  IOStatus ReuseWritableFile(const std::string&, const std::string&, const rocksdb::FileOptions&,
                             std::unique_ptr<rocksdb::FSWritableFile>*, IODebugContext*) override {
    return unused("ReuseWritableFile");
  }
  IOStatus NewRandomRWFile(const std::string&, const rocksdb::FileOptions&,
                           std::unique_ptr<rocksdb::FSRandomRWFile>*, IODebugContext*) override {
    return unused("NewRandomRWFile");
  }
  IOStatus LinkFile(const std::string&, const std::string&, const IOOptions&,
                    IODebugContext*) override {
    return unused("LinkFile");
  }
  IOStatus Truncate(const std::string& path, std::size_t size, const IOOptions& options,
                    IODebugContext* debug) override {
    return perform(
        watch_, {.kind = Kind::truncate, .path = watch_.below_root(path), .offset = size},
        [&](std::size_t) { return FileSystemWrapper::Truncate(path, size, options, debug); });
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    return perform(
        watch_,
        {.kind = Kind::rename, .path = watch_.below_root(from), .new_path = watch_.below_root(to)},
        [&](std::size_t) { return FileSystemWrapper::RenameFile(from, to, options, debug); });
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions& options,
                      IODebugContext* debug) override {
    return perform(
        watch_, {.kind = Kind::remove, .path = watch_.below_root(path)},
        [&](std::size_t) { return FileSystemWrapper::DeleteFile(path, options, debug); });
  }
  IOStatus CreateDir(const std::string& path, const IOOptions& options,
                     IODebugContext* debug) override {
    return make_directory(path, [&] { return FileSystemWrapper::CreateDir(path, options, debug); });
  }
  IOStatus CreateDirIfMissing(const std::string& path, const IOOptions& options,
                              IODebugContext* debug) override {
    return make_directory(
        path, [&] { return FileSystemWrapper::CreateDirIfMissing(path, options, debug); });
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<rocksdb::FSDirectory>* result,
                        IODebugContext* debug) override {
    const IOStatus status = FileSystemWrapper::NewDirectory(path, options, result, debug);
    if (status.ok())
      *result =
          std::make_unique<WatchedDirectory>(watch_, std::move(*result), watch_.below_root(path));
    return status;
  }
  IOStatus LockFile(const std::string& path, const IOOptions& options, rocksdb::FileLock** lock,
                    IODebugContext* debug) override {
    if (std::filesystem::exists(path))
      return FileSystemWrapper::LockFile(path, options, lock, debug);
    return perform(
        watch_, {.kind = Kind::create, .path = watch_.below_root(path)},
        [&](std::size_t) { return FileSystemWrapper::LockFile(path, options, lock, debug); });
  }

private:
  /// A call that this version of RocksDB does not make with our options would go unseen.
  static IOStatus unused(const char* what) { return IOStatus::NotSupported(what); }
  template <class Act>
  IOStatus make_directory(const std::string& path, Act act) {
    if (std::filesystem::is_directory(path))
      return act();
    return perform(watch_, {.kind = Kind::create_directory, .path = watch_.below_root(path)},
                   [&](std::size_t) { return act(); });
  }

  Watch& watch_;
};

} // namespace

WatchedFiles::WatchedFiles(const std::filesystem::path& root, FileWatcher& watcher)
    : watch_(std::make_unique<Watch>(root, watcher)),
      files_(std::make_unique<WatchedFileSystem>(*watch_)),
      env_(rocksdb::NewCompositeEnv(std::make_shared<WatchedRocksFiles>(*watch_))) {}

WatchedFiles::~WatchedFiles() = default;

FileSystem& WatchedFiles::files() noexcept {
  return *files_;
}

rocksdb::Env* WatchedFiles::env() noexcept {
  return env_.get();
}

} // namespace datastream::test
