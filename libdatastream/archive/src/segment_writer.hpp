#pragma once
/// The segment that is being written.

#include "format/block_index.hpp"
#include "format/descriptors_block.hpp"
#include "format/segment_header.hpp"
#include "segment_file.hpp"
#include "write_failure.hpp"

#include <datastream/archive/file_system.hpp>
#include <datastream/model/descriptor.hpp>

#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace datastream {

/// What the name of a segment ends with until it has its header.
inline constexpr const char* unfinished_end = ".tmp";

/// Which descriptors and which source a segment has, so that nothing is said twice in it.
class SegmentDeclarations {
public:
  bool has(const StreamId& stream) const { return channels_.contains(stream); }
  bool has(const StreamId& stream, ChannelId channel) const;
  bool has(const Declaration& declaration) const;
  void add(const Declaration& declaration);
  /// Takes all of them. Throws `std::bad_alloc`, with some of them taken.
  void add(SegmentDeclarations&& later);

  /// What was said last.
  const std::optional<std::string>& source() const noexcept { return source_; }
  void set_source(std::string source) noexcept { source_ = std::move(source); }

private:
  // A stream without descriptor of its own has an entry as soon as one of its channels has.
  std::unordered_map<StreamId, std::unordered_set<std::uint32_t>> channels_;
  std::optional<std::string> source_;
};

/// Thread safety: one owner.
class SegmentWriter {
public:
  /// Creates a segment and makes it durable, under its name.
  static std::expected<SegmentWriter, WriteFailure> create(FileSystem& files,
                                                           const std::filesystem::path& directory,
                                                           const format::SegmentHeader& header);

  /// Writes what lies behind `durable` once more, and syncs it: after a crash, and the more so
  /// after a sync that failed, memory may have what the disk has not. To be done before anybody
  /// believes what is in the last segment. One that is read-only was synced before it was made so.
  static std::expected<void, WriteFailure>
  make_durable(FileSystem& files, const std::filesystem::path& path, std::uint64_t durable);

  /// Goes on with one, which is durable, of which `entries` were found to be whole, and cuts off
  /// what is behind them.
  static std::expected<SegmentWriter, WriteFailure>
  resume(FileSystem& files, const SegmentFile& segment,
         const std::vector<format::IndexEntry>& entries, SegmentDeclarations declarations);

  std::uint64_t number() const noexcept { return header_.number; }
  const format::SegmentHeader& header() const noexcept { return header_; }
  /// Behind everything that was committed.
  const BlockPlace& end() const noexcept { return end_; }
  bool empty() const noexcept { return index_.blocks() == 0; }
  std::size_t index_bytes() const noexcept { return index_.bytes(); }
  const SegmentDeclarations& declarations() const noexcept { return declarations_; }

  /// Places blocks behind each other, in which `said` is said, writes and syncs them. After a
  /// failure, or an exception, this object is good for nothing more; unless it was of the sync, the
  /// file is cut back to what it was, or, should that fail too, has a torn tail, which `resume`
  /// cuts off.
  std::expected<void, WriteFailure> commit(std::vector<format::UnplacedBlock>& blocks,
                                           SegmentDeclarations said);

  /// Writes the footer, and takes nothing more. Returns the file's size.
  std::expected<std::uint64_t, WriteFailure> seal(format::Compressor& compressor);

private:
  SegmentWriter(FileSystem& files, std::filesystem::path path, std::unique_ptr<File> file,
                const format::SegmentHeader& header, BlockPlace end)
      : files_(&files), path_(std::move(path)), file_(std::move(file)), header_(header), end_(end) {
  }

  std::unexpected<WriteFailure> cut_back(const FileError& error);

  FileSystem* files_;
  std::filesystem::path path_;
  std::unique_ptr<File> file_;
  format::SegmentHeader header_;
  BlockPlace end_;
  format::FooterBuilder index_;
  SegmentDeclarations declarations_;
};

} // namespace datastream
