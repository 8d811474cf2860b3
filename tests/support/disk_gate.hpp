#pragma once
/// A disk that stands still, or is full, when a test says so.

#include "forwarded_files.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace datastream::test {

/// The files of the operating system, whose syncs wait while the gate is closed, and whose writes
/// fail while it is full.
class DiskGate : public ForwardedFiles {
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
    auto file = ForwardedFiles::open(path, mode);
    if (!file)
      return file;
    return std::make_unique<GatedFile>(*this, path, std::move(*file));
  }

private:
  class GatedFile : public ForwardedFile {
  public:
    GatedFile(DiskGate& gate, const std::filesystem::path& path, std::unique_ptr<File> file)
        : ForwardedFile(std::move(file)), gate_(gate), path_(path) {}
    FileResult<void> write(std::uint64_t offset, std::span<const std::string_view> parts) override {
      if (gate_.full_)
        return std::unexpected(
            FileError{std::make_error_code(std::errc::no_space_on_device), "write", path_});
      return ForwardedFile::write(offset, parts);
    }
    FileResult<void> sync() override {
      gate_.wait();
      return ForwardedFile::sync();
    }

  private:
    DiskGate& gate_;
    std::filesystem::path path_;
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

  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  std::atomic<bool> full_{false};
  int waiting_ = 0;
};

} // namespace datastream::test
