#pragma once
/// A disk that stands still, or is full, when a test says so.

#include <datastream/archive/file_system.hpp>

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace datastream::test {

/// The files of the operating system, whose syncs wait while the gate is closed, and whose writes
/// fail while it is full.
class DiskGate : public FileSystem {
public:
  void close() { set(true); }
  void open() { set(false); }
  void set_full(bool full) { full_ = full; }
  /// Somebody waits for the disk.
  bool busy() {
    const std::lock_guard lock(mutex_);
    return waiting_ > 0;
  }

  FileResult<std::unique_ptr<File>> open(const std::filesystem::path& path, Mode mode) override {
    auto file = files_.open(path, mode);
    if (!file)
      return file;
    return std::make_unique<GatedFile>(*this, path, std::move(*file));
  }
  FileResult<void> rename(const std::filesystem::path& from,
                          const std::filesystem::path& to) override {
    return files_.rename(from, to);
  }
  FileResult<void> remove(const std::filesystem::path& path) override {
    return files_.remove(path);
  }
  FileResult<void> make_read_only(const std::filesystem::path& path) override {
    return files_.make_read_only(path);
  }
  FileResult<void> create_directory(const std::filesystem::path& path) override {
    return files_.create_directory(path);
  }
  FileResult<void> sync_directory(const std::filesystem::path& path) override {
    return files_.sync_directory(path);
  }
  FileResult<std::vector<std::string>> list(const std::filesystem::path& directory) override {
    return files_.list(directory);
  }
  FileResult<std::unique_ptr<FileLock>> lock(const std::filesystem::path& path) override {
    return files_.lock(path);
  }

private:
  class GatedFile : public File {
  public:
    GatedFile(DiskGate& gate, const std::filesystem::path& path, std::unique_ptr<File> file)
        : gate_(gate), path_(path), file_(std::move(file)) {}
    FileResult<std::size_t> read(std::uint64_t offset, std::span<char> into) override {
      return file_->read(offset, into);
    }
    FileResult<void> write(std::uint64_t offset, std::span<const std::string_view> parts) override {
      if (gate_.full_)
        return std::unexpected(
            FileError{std::make_error_code(std::errc::no_space_on_device), "write", path_});
      return file_->write(offset, parts);
    }
    FileResult<void> sync() override {
      gate_.wait();
      return file_->sync();
    }
    FileResult<void> truncate(std::uint64_t size) override { return file_->truncate(size); }
    FileResult<std::uint64_t> size() override { return file_->size(); }

  private:
    DiskGate& gate_;
    std::filesystem::path path_;
    std::unique_ptr<File> file_;
  };

  void set(bool closed) {
    const std::lock_guard lock(mutex_);
    closed_ = closed;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.wait(lock, [this] { return !closed_; });
    --waiting_;
  }

  FileSystem& files_ = posix_file_system();
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  std::atomic<bool> full_{false};
  int waiting_ = 0;
};

} // namespace datastream::test
