#pragma once
/// The index of an archive, in RocksDB: what its writer must find quickly, and nothing that could
/// not be made again from the segments.

#include "segment_file.hpp"

#include <datastream/archive/archive_error.hpp>
#include <datastream/model/descriptor.hpp>
#include <datastream/model/ids.hpp>

#include <array>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rocksdb {
class DB;
class Env;
} // namespace rocksdb

namespace datastream {

/// Which of 4,096 consecutive positions of a stream are stored. A value of its own for each page,
/// so that none grows with the archive.
using PositionPage = std::array<std::uint64_t, 64>;
inline constexpr std::uint64_t positions_per_page = 4096;

/// How far the index has followed.
struct MetadataCursor {
  std::uint64_t segment = 0; ///< number
  BlockPlace place;          ///< of the first block that the index does not know
};

/// A sealed segment, as it must be found again.
struct ListedSegment {
  std::uint64_t number = 0;
  std::uint64_t first_sequence = 0;
  std::uint64_t end_sequence = 0;
  std::uint64_t bytes = 0;
};

/// Errors: `damaged` with its remedy where RocksDB finds its files corrupt, `no_room`, `io`. After
/// a failed write the object is good for nothing but to be destroyed: RocksDB's own resumption, in
/// 7.8, claims success and goes on failing.
///
/// Thread safety: `positions` from any thread; everything else by one.
class Metadata {
public:
  /// Opens or creates it.
  static std::expected<std::unique_ptr<Metadata>, ArchiveError>
  open(const std::filesystem::path& directory, rocksdb::Env* env);
  /// Removes all its files.
  static std::expected<void, ArchiveError> destroy(const std::filesystem::path& directory,
                                                   rocksdb::Env* env);
  ~Metadata();

  std::expected<std::optional<format::ArchiveId>, ArchiveError> archive() const;
  std::expected<std::optional<MetadataCursor>, ArchiveError> cursor() const;
  /// In the order of their numbers.
  std::expected<std::vector<ListedSegment>, ArchiveError> segments() const;
  std::expected<std::vector<Declaration>, ArchiveError> declarations() const;
  /// All zero if none is stored.
  std::expected<PositionPage, ArchiveError> positions(const StreamId& stream,
                                                      std::uint64_t page) const;

  /// Changes that are made together or not at all.
  class Batch {
  public:
    void set_archive(const format::ArchiveId& archive);
    void set_cursor(const MetadataCursor& cursor);
    void add(const ListedSegment& segment);
    void add(const Declaration& declaration);
    void set_positions(const StreamId& stream, std::uint64_t page, const PositionPage& positions);

  private:
    friend class Metadata;
    void put_entry(std::string_view key, std::string_view value);
    /// Keys and values. Not RocksDB's own batch: where that is built with assertions, it ends the
    /// process when there is no memory for it to grow.
    std::string entries_;
  };
  std::expected<void, ArchiveError> write(const Batch& batch, bool sync);
  /// Everything written so far will survive a power cut.
  std::expected<void, ArchiveError> sync();

private:
  Metadata(std::filesystem::path directory, std::unique_ptr<rocksdb::DB> db);

  std::filesystem::path directory_;
  std::unique_ptr<rocksdb::DB> db_;
};

} // namespace datastream
