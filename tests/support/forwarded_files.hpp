#pragma once
/// The files of the operating system, of which a test overrides what it wants otherwise.

#include <datastream/archive/file_system.hpp>

#include <memory>
#include <utility>

namespace datastream::test {

class ForwardedFile : public File {
public:
  explicit ForwardedFile(std::unique_ptr<File> file) : file_(std::move(file)) {}

  FileResult<std::size_t> read(std::uint64_t offset, std::span<char> into) override {
    return file_->read(offset, into);
  }
  FileResult<void> write(std::uint64_t offset, std::span<const std::string_view> parts) override {
    return file_->write(offset, parts);
  }
  FileResult<void> sync() override { return file_->sync(); }
  FileResult<void> truncate(std::uint64_t size) override { return file_->truncate(size); }
  FileResult<std::uint64_t> size() override { return file_->size(); }

private:
  std::unique_ptr<File> file_;
};

class ForwardedFiles : public FileSystem {
public:
  FileResult<std::unique_ptr<File>> open(const std::filesystem::path& path, Mode mode) override {
    return files_.open(path, mode);
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
  FileSystem& files_ = posix_file_system();
};

} // namespace datastream::test
