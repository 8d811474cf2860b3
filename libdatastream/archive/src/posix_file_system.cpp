#include <datastream/archive/file_system.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace datastream {

namespace {

std::unexpected<FileError> failed(std::string operation, const std::filesystem::path& path,
                                  int error = errno) {
  return std::unexpected(FileError{{error, std::generic_category()}, std::move(operation), path});
}

class Descriptor {
public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0)
      ::close(number_);
  }
  int get() const noexcept { return number_; }

private:
  int number_;
};

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

class PosixFile : public File {
public:
  PosixFile(Descriptor descriptor, std::filesystem::path path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  FileResult<std::size_t> read(std::uint64_t offset, std::span<char> into) override {
    std::size_t done = 0;
    while (done < into.size()) {
      const ssize_t count = ::pread(descriptor_.get(), into.data() + done, into.size() - done,
                                    static_cast<off_t>(offset + done));
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0)
        return failed("read", path_);
      if (count == 0)
        break;
      done += static_cast<std::size_t>(count);
    }
    return done;
  }

  FileResult<void> write(std::uint64_t offset, std::span<const std::string_view> parts) override {
    std::size_t part = 0;
    std::size_t within = 0; // of that part, what is written already
    while (true) {
      std::array<iovec, 64> vectors{};
      std::size_t count = 0;
      for (std::size_t i = part; i < parts.size() && count < vectors.size(); ++i) {
        const std::string_view rest = parts[i].substr(i == part ? within : 0);
        if (!rest.empty())
          vectors[count++] = {const_cast<char*>(rest.data()), rest.size()};
      }
      if (count == 0)
        return {};
      const ssize_t written = ::pwritev(descriptor_.get(), vectors.data(), static_cast<int>(count),
                                        static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR)
        continue;
      if (written < 0)
        return failed("write", path_);
      offset += static_cast<std::uint64_t>(written);
      for (auto rest = static_cast<std::size_t>(written); part < parts.size();) {
        const std::size_t of_part = std::min(rest, parts[part].size() - within);
        within += of_part;
        rest -= of_part;
        if (within < parts[part].size())
          break;
        ++part;
        within = 0;
      }
    }
  }

  FileResult<void> sync() override {
    // No second try: after an error the kernel may have forgotten what was not written.
    if (::fdatasync(descriptor_.get()) != 0)
      return failed("fsync", path_);
    return {};
  }

  FileResult<void> truncate(std::uint64_t size) override {
    if (::ftruncate(descriptor_.get(), static_cast<off_t>(size)) != 0)
      return failed("truncate", path_);
    return {};
  }

  FileResult<std::uint64_t> size() override {
    struct stat status{};
    if (::fstat(descriptor_.get(), &status) != 0)
      return failed("stat", path_);
    return static_cast<std::uint64_t>(status.st_size);
  }

private:
  Descriptor descriptor_;
  std::filesystem::path path_;
};

class PosixLock : public FileLock {
public:
  explicit PosixLock(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

private:
  Descriptor descriptor_;
};

class PosixFileSystem : public FileSystem {
public:
  FileResult<std::unique_ptr<File>> open(const std::filesystem::path& path, Mode mode) override {
    const int flags = mode == Mode::read     ? O_RDONLY
                      : mode == Mode::update ? O_RDWR
                                             : O_RDWR | O_CREAT | O_EXCL;
    Descriptor descriptor(::open(path.c_str(), flags | O_CLOEXEC, 0644));
    if (descriptor.get() < 0)
      return failed("open", path);
    return std::make_unique<PosixFile>(std::move(descriptor), path);
  }

  FileResult<void> rename(const std::filesystem::path& from,
                          const std::filesystem::path& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0)
      return failed("rename", from);
    return {};
  }

  FileResult<void> remove(const std::filesystem::path& path) override {
    if (::unlink(path.c_str()) != 0)
      return failed("remove", path);
    return {};
  }

  FileResult<void> make_read_only(const std::filesystem::path& path) override {
    if (::chmod(path.c_str(), 0444) != 0)
      return failed("chmod", path);
    return {};
  }

  FileResult<void> create_directory(const std::filesystem::path& path) override {
    std::error_code error;
    std::filesystem::create_directory(path, error);
    if (error)
      return std::unexpected(
          FileError{{error.value(), std::generic_category()}, "create directory", path});
    return {};
  }

  FileResult<void> sync_directory(const std::filesystem::path& path) override {
    const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.get() < 0)
      return failed("open", path);
    if (::fsync(directory.get()) != 0)
      return failed("fsync", path);
    return {};
  }

  FileResult<std::vector<std::string>> list(const std::filesystem::path& directory) override {
    // Not with `std::filesystem`: without memory its iterator ends the process.
    const std::unique_ptr<DIR, CloseDirectory> opened(::opendir(directory.c_str()));
    if (!opened)
      return failed("list", directory);
    std::vector<std::string> names;
    for (;;) {
      errno = 0;
      // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody else reads from this directory stream
      const dirent* const entry = ::readdir(opened.get());
      if (!entry)
        break;
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..")
        names.emplace_back(name);
    }
    if (errno != 0)
      return failed("list", directory);
    return names;
  }

  FileResult<std::unique_ptr<FileLock>> lock(const std::filesystem::path& path) override {
    Descriptor descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (descriptor.get() < 0)
      return failed("open", path);
    if (::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0)
      return failed("lock", path);
    return std::make_unique<PosixLock>(std::move(descriptor));
  }
};

} // namespace

FileSystem& posix_file_system() {
  static PosixFileSystem files;
  return files;
}

} // namespace datastream
