#pragma once
/// A disk that stands still when a test says so.

#include "forwarded_files.hpp"

#include <condition_variable>
#include <mutex>

namespace datastream::test {

/// The files of the operating system, whose syncs wait while the gate is closed.
class DiskGate : public ForwardedFiles {
public:
  void close() { set(true); }
  void open() { set(false); }
  /// Somebody waits for the disk.
  bool busy() {
    const std::lock_guard lock(mutex_);
    return waiting_ > 0;
  }

  FileResult<std::unique_ptr<File>> open(const std::filesystem::path& path, Mode mode) override {
    auto file = ForwardedFiles::open(path, mode);
    if (!file)
      return file;
    return std::make_unique<GatedFile>(*this, std::move(*file));
  }

private:
  class GatedFile : public ForwardedFile {
  public:
    GatedFile(DiskGate& gate, std::unique_ptr<File> file)
        : ForwardedFile(std::move(file)), gate_(gate) {}
    FileResult<void> sync() override {
      gate_.wait();
      return ForwardedFile::sync();
    }

  private:
    DiskGate& gate_;
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
  int waiting_ = 0;
};

} // namespace datastream::test
