#pragma once
/// A segment file, read.

#include "errors.hpp"
#include "format/block_index.hpp"
#include "format/segment_header.hpp"

#include <datastream/archive/archive_error.hpp>
#include <datastream/archive/file_system.hpp>
#include <datastream/model/block.hpp>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace datastream {

/// Where the next block of a segment is, or will be, and what it must say of itself.
struct BlockPlace {
  std::uint64_t offset = 0;
  std::uint64_t sequence = 0; ///< of the next frame
  std::uint64_t checksum = 0; ///< of the block before, or of the segment's header
  friend bool operator==(const BlockPlace&, const BlockPlace&) = default;
};

/// The place behind a block.
BlockPlace behind(const format::IndexEntry& entry);

/// Reads the blocks of one segment. Errors are `damaged`, with file and offset, where bytes are not
/// what the format says, and `io` or `missing` where they cannot be had; who knows which sequences
/// that costs adds them. Throws `std::bad_alloc`.
///
/// Thread safety: const functions may be called from all threads.
class SegmentFile {
public:
  /// Reads the header. A later version is `unsupported`.
  static std::expected<SegmentFile, ArchiveError> open(FileSystem& files,
                                                       const std::filesystem::path& path);

  const std::filesystem::path& path() const noexcept { return path_; }
  const format::SegmentHeader& header() const noexcept { return header_.header; }
  /// The place of the first block.
  BlockPlace begin() const noexcept;
  std::expected<std::uint64_t, ArchiveError> size() const;

  /// Header and directory of the block at a place, which must follow the one before and end at
  /// `limit` at most.
  std::expected<format::IndexEntry, ArchiveError> read_entry(const BlockPlace& place,
                                                             std::uint64_t limit) const;
  /// The same of a block that stands there, whatever was before it.
  std::expected<format::IndexEntry, ArchiveError> read_entry_at(std::uint64_t offset,
                                                                std::uint64_t limit) const;
  /// Bytes as they are, until `into` is full or the file ends; how many that were.
  std::expected<std::size_t, ArchiveError> read_bytes(std::uint64_t offset,
                                                      std::span<char> into) const;
  /// The uncompressed body of a block. Its header and directory are read again, and must be those
  /// of the entry.
  std::expected<BlockPtr, ArchiveError> read_body(const format::IndexEntry& entry) const;

  /// What a sealed segment ends with; nothing if the file, of which only the first `size` bytes
  /// count, has no whole trailer.
  std::expected<std::optional<format::Trailer>, ArchiveError>
  read_trailer(std::uint64_t size) const;
  /// What the footer of a sealed segment tells.
  struct Sealed {
    std::vector<format::IndexEntry> entries;
    BlockPlace end; ///< behind the last block, where the footer is
  };
  /// Nothing if there is no trailer.
  std::expected<std::optional<Sealed>, ArchiveError> read_footer(std::uint64_t size) const;

private:
  SegmentFile(std::filesystem::path path, std::unique_ptr<File> file)
      : path_(std::move(path)), file_(std::move(file)) {}

  /// Exactly so many bytes.
  std::expected<BlockPtr, ArchiveError> read(std::uint64_t offset, std::size_t bytes) const;
  std::unexpected<ArchiveError> damaged_at(std::uint64_t offset,
                                           const format::FormatError& error) const {
    return std::unexpected(damaged(path_, offset, error));
  }

  std::filesystem::path path_;
  std::unique_ptr<File> file_;
  format::DecodedSegmentHeader header_;
};

} // namespace datastream
