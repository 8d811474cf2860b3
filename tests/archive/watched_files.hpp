#pragma once
/// The files of an archive, RocksDB's among them, with somebody looking on.

#include <datastream/archive/file_system.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

namespace rocksdb {
class Env;
}

namespace datastream::test {

/// One operation that changes what a disk holds, or makes it durable.
struct FileOperation {
  enum class Kind {
    create, ///< an empty file
    write,
    truncate,
    sync,
    make_read_only,
    rename,
    remove,
    create_directory,
    sync_directory,
  };
  Kind kind;
  std::string path{};       ///< below the root; of an open file, the name by which it was opened
  std::string new_path{};   ///< of a rename
  std::uint64_t file = 0;   ///< the same for one file, whatever its name
  std::uint64_t offset = 0; ///< of a write; the new size
  std::string bytes{};      ///< of a write

  bool is(Kind wanted) const { return kind == wanted; }
  /// Of what lies directly in an archive: its segments, also while they have another name.
  bool of_segment() const { return path.find("seg_") != std::string::npos; }
  bool of_tip() const { return path.ends_with("tip"); }
  bool of_index() const { return path.find("index") != std::string::npos; }
};

/// Called for one operation at a time.
class FileWatcher {
public:
  virtual ~FileWatcher() = default;

  struct Verdict {
    std::errc error{};       ///< why it is refused, if it is
    std::size_t written = 0; ///< bytes of a refused write that are written all the same
  };
  /// Before an operation.
  virtual Verdict judge(const FileOperation&) { return {}; }
  /// Before a file of the archive that exists is opened, whether that is refused.
  virtual std::errc judge_open(const std::filesystem::path&, FileSystem::Mode) { return {}; }
  /// After one that succeeded.
  virtual void done(FileOperation) {}
};

class Watch;

/// Operations on files below `root`; those outside happen unseen.
class WatchedFiles {
public:
  WatchedFiles(const std::filesystem::path& root, FileWatcher& watcher);
  ~WatchedFiles();

  FileSystem& files() noexcept;
  rocksdb::Env* env() noexcept;

private:
  std::unique_ptr<Watch> watch_;
  std::unique_ptr<FileSystem> files_;
  std::unique_ptr<rocksdb::Env> env_;
};

} // namespace datastream::test
