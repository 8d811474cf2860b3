#pragma once
/// What a disk may hold after a power cut.

#include "watched_files.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace datastream::test {

/// Directories and files as they are, by their names below some root.
struct DiskImage {
  struct FileImage {
    std::string bytes{};
    bool read_only = false;
    friend bool operator==(const FileImage&, const FileImage&) = default;
  };
  std::map<std::string, std::optional<FileImage>> entries; ///< without a file: a directory

  static DiskImage of(const std::filesystem::path& root);
  void write_to(const std::filesystem::path& root) const;
  std::uint64_t hash() const;
};

/// Which of the things that were not synced a power cut leaves.
struct Survival {
  enum class Data {
    all,
    none,
    torn,    ///< of each file all but the last write, which breaks off somewhere
    sectors, ///< each sector of 512 bytes, and the size, from any moment since the last sync
    random,  ///< any of these, for each file
  };
  enum class Names {
    all,
    none,
    prefix, ///< what happened in a directory up to some moment
    subset, ///< any of what happened in a directory
  };
  struct Part {
    Data data = Data::all;
    Names names = Names::all;
  };
  Part archive;
  Part index;
  bool index_lost = false; ///< the whole of it
};

/// Follows the operations on files, and knows of each file and each directory what was synced and
/// what happened since then.
///
/// The rules are stricter than those of any real file system: syncing a file does not make its name
/// durable; what happened in a directory since it was synced may have happened in part, in no
/// order; the size of a file may be durable before its bytes, which are zeros then. A sector is
/// written whole or not at all, but for the very last write to a file.
///
/// Keeps references to the operations.
class SimulatedDisk {
public:
  explicit SimulatedDisk(const DiskImage& initial);
  void apply(const FileOperation& operation);

  /// What programs see.
  DiskImage now() const;
  DiskImage after_power_cut(const Survival& survival, std::mt19937_64& random) const;

private:
  struct Node {
    bool directory = false;
    // A file.
    std::string durable;
    bool read_only = false;
    // A directory: names below the root, and what they name.
    std::map<std::string, std::size_t> names;         ///< synced
    std::map<std::string, std::size_t> current_names; ///< all of it
    std::vector<const FileOperation*> pending;
  };

  std::size_t add(bool directory);
  std::size_t file_of(const FileOperation& operation);
  Node& directory_of(const std::string& path);
  void change_names(std::map<std::string, std::size_t>& names,
                    const FileOperation& operation) const;
  void collect(DiskImage& image, const Node& directory, const Survival& survival,
               std::mt19937_64& random) const;
  DiskImage::FileImage content(const Node& file, Survival::Data data,
                               std::mt19937_64& random) const;

  std::vector<Node> nodes_;
  std::map<std::uint64_t, std::size_t> files_;       ///< by the file's id
  std::map<const FileOperation*, std::size_t> made_; ///< by what created or renamed it
  std::map<std::string, std::size_t> directories_;   ///< by their names
};

} // namespace datastream::test
