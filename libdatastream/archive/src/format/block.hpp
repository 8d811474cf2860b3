#pragma once
/// A block of a segment: header, directory, body (docs/archive_format.md). Pure: no file, no
/// thread.

#include "format_error.hpp"
#include "limits.hpp"

#include <datastream/model/block.hpp>
#include <datastream/model/ids.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct ZSTD_CCtx_s;

namespace datastream::format {

/// What each block begins with.
inline constexpr std::string_view block_magic = "DSBK";

enum class BlockKind : std::uint8_t {
  frames = 1,
  descriptors = 2,
  footer = 3,
};

enum class Compression : std::uint8_t {
  none = 0,
  zstd = 1,
};

struct BlockHeader {
  BlockKind kind = BlockKind::frames;
  Compression compression = Compression::none;
  std::uint32_t directory_bytes = 0;
  std::uint32_t stored_bytes = 0; ///< of the body, as it is in the file
  std::uint32_t raw_bytes = 0;    ///< of the body, uncompressed
  std::uint32_t frames = 0;
  std::uint64_t first_sequence = 0; ///< of its first frame; of the next one if it has none
  std::uint64_t previous = 0;       ///< checksum of the block before it, or of the segment's header
  std::uint64_t body_checksum = 0;  ///< of the body as it is in the file
  std::uint32_t streams = 0;
  std::uint32_t batches = 0;
  std::uint64_t checksum = 0; ///< of all that is above, and of the directory

  std::uint64_t size() const {
    return std::uint64_t{block_header_bytes} + directory_bytes + stored_bytes;
  }
  std::uint64_t end_sequence() const { return first_sequence + frames; }
  friend bool operator==(const BlockHeader&, const BlockHeader&) = default;
};

/// What a frames block has of one stream.
struct BlockStream {
  std::shared_ptr<const StreamId> stream;
  Position lowest;
  Position highest;
  std::uint32_t frames = 0;
  std::vector<std::uint32_t> channels; ///< ascending

  bool has_channel(std::uint32_t channel) const;
};

/// Frames of one stream that arrived together, in the order of the body.
struct BlockBatch {
  std::uint32_t stream = 0; ///< index into the streams
  std::uint32_t frames = 0;
  std::int64_t arrival = 0; ///< microseconds since 1970
};

struct BlockDirectory {
  std::vector<BlockStream> streams;
  std::vector<BlockBatch> batches;
};

/// A block that has no place in a segment yet.
struct UnplacedBlock {
  BlockHeader header; ///< all but sequence, `previous` and checksum
  std::string directory;
  std::string body; ///< as it will be in the file

  std::uint64_t size() const { return header.size(); }
  /// Gives it its place: completes the header.
  void place(std::uint64_t first_sequence, std::uint64_t previous);
  std::string encoded_header() const;
};

/// Compresses what becomes smaller, if there is memory for it. One thread.
class Compressor {
public:
  /// Throws `std::bad_alloc`.
  Compressor();
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  /// Makes a block of a body. `header` has kind and counts.
  UnplacedBlock finish(BlockHeader header, std::string directory, std::string body) noexcept;

private:
  /// How much effort a body is worth, by a sample of it.
  int level_for(const std::string& body) noexcept;
  /// In place, in the same memory; false: it would not become smaller.
  bool compress(std::string& body) noexcept;

  ZSTD_CCtx_s* context_;
  std::string scratch_;
};

/// Reads a header, with its bounds checked, but for its checksum, which includes the directory.
Decoded<BlockHeader> decode_block_header(std::string_view bytes);
/// Whether the checksum of a header and its directory is right. `header` are its bytes.
bool checksum_matches(std::string_view header, std::string_view directory);
Decoded<BlockDirectory> decode_directory(const BlockHeader& header, std::string_view directory);

/// The uncompressed body of a block, of which `stored` is what is in the file: the same memory, if
/// it is not compressed. Throws `std::bad_alloc`.
Decoded<BlockPtr> decode_body(const BlockHeader& header, BlockPtr stored);

} // namespace datastream::format
