#include "block.hpp"

#include "bytes.hpp"
#include "checksum.hpp"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace datastream::format {

namespace {

/// Fast enough to hide behind the disk; more effort gains little with telemetry.
constexpr int compression_level = 1;
/// Takes half the time of the other over what hardly becomes smaller, and gains as much there.
constexpr int fast_compression_level = -1;
/// What tells how well a body compresses: so many parts of it, each of so many bytes.
constexpr std::size_t samples = 4;
constexpr std::size_t sample_bytes = 2048;
/// Kept between two blocks: those of ordinary size.
constexpr std::size_t scratch_bytes_max = 1U << 20U;

std::string header_without_checksum(const BlockHeader& header) {
  std::string out;
  out.reserve(block_header_bytes);
  out += block_magic;
  put(out, static_cast<std::uint8_t>(header.kind));
  put(out, static_cast<std::uint8_t>(header.compression));
  put(out, std::uint16_t{0});
  put(out, header.directory_bytes);
  put(out, header.stored_bytes);
  put(out, header.raw_bytes);
  put(out, header.frames);
  put(out, header.first_sequence);
  put(out, header.previous);
  put(out, header.body_checksum);
  put(out, header.streams);
  put(out, header.batches);
  return out;
}

} // namespace

bool BlockStream::has_channel(std::uint32_t channel) const {
  return std::ranges::binary_search(channels, channel);
}

void UnplacedBlock::place(std::uint64_t first_sequence, std::uint64_t previous) {
  header.first_sequence = first_sequence;
  header.previous = previous;
  header.checksum = checksum(header_without_checksum(header), directory);
}

std::string UnplacedBlock::encoded_header() const {
  std::string out = header_without_checksum(header);
  put(out, header.checksum);
  return out;
}

Compressor::Compressor() : context_(ZSTD_createCCtx()) {
  if (!context_)
    throw std::bad_alloc();
}

Compressor::~Compressor() {
  ZSTD_freeCCtx(context_);
}

int Compressor::level_for(const std::string& body) noexcept {
  std::array<char, samples * sample_bytes> sample{};
  std::array<char, samples * sample_bytes * 15 / 16> smaller{};
  if (body.size() < 8 * sample.size())
    return compression_level; // which takes no time worth saving
  for (std::size_t i = 0; i < samples; ++i)
    body.copy(sample.data() + i * sample_bytes, sample_bytes, body.size() / samples * i);
  const std::size_t size = ZSTD_compressCCtx(context_, smaller.data(), smaller.size(),
                                             sample.data(), sample.size(), compression_level);
  return ZSTD_isError(size) != 0 ? fast_compression_level : compression_level;
}

bool Compressor::compress(std::string& body) noexcept {
  if (body.empty())
    return false;
  try {
    // Room for something smaller only. The memory is kept: touching it anew costs more than the
    // rest.
    if (scratch_.size() < body.size() - 1)
      scratch_.resize(body.size() - 1);
  } catch (const std::bad_alloc&) {
    return false; // what is not compressed needs no memory
  }
  const int level = level_for(body);
  const std::size_t size = ZSTD_compressCCtx(context_, scratch_.data(), body.size() - 1,
                                             body.data(), body.size(), level);
  if (ZSTD_isError(size) != 0)
    return false;
  body.assign(scratch_, 0, size); // which has room for more
  if (scratch_.size() > scratch_bytes_max)
    scratch_ = {};
  return true;
}

UnplacedBlock Compressor::finish(BlockHeader header, std::string directory,
                                 std::string body) noexcept {
  header.directory_bytes = static_cast<std::uint32_t>(directory.size());
  header.raw_bytes = static_cast<std::uint32_t>(body.size());
  header.compression = compress(body) ? Compression::zstd : Compression::none;
  header.stored_bytes = static_cast<std::uint32_t>(body.size());
  header.body_checksum = checksum(body);
  return {header, std::move(directory), std::move(body)};
}

Decoded<BlockHeader> decode_block_header(std::string_view bytes) {
  if (!bytes.starts_with(block_magic))
    return malformed("no block begins here");
  ByteReader in(bytes.substr(0, block_header_bytes));
  in.take_bytes(block_magic.size());
  BlockHeader header;
  const auto kind = in.take<std::uint8_t>();
  const auto compression = in.take<std::uint8_t>();
  const auto zero = in.take<std::uint16_t>();
  header.directory_bytes = in.take<std::uint32_t>();
  header.stored_bytes = in.take<std::uint32_t>();
  header.raw_bytes = in.take<std::uint32_t>();
  header.frames = in.take<std::uint32_t>();
  header.first_sequence = in.take<std::uint64_t>();
  header.previous = in.take<std::uint64_t>();
  header.body_checksum = in.take<std::uint64_t>();
  header.streams = in.take<std::uint32_t>();
  header.batches = in.take<std::uint32_t>();
  header.checksum = in.take<std::uint64_t>();
  if (in.failed())
    return malformed("the file ends within a block's header");
  if (kind < 1 || kind > 3 || compression > 1 || zero != 0)
    return malformed("the block is of a kind that this library does not know");
  header.kind = static_cast<BlockKind>(kind);
  header.compression = static_cast<Compression>(compression);
  if (header.directory_bytes > directory_bytes_max || header.raw_bytes > body_bytes_max ||
      header.stored_bytes > header.raw_bytes || header.frames > block_frames_max)
    return malformed("a length in the block's header is out of bounds");
  if (header.compression == Compression::none && header.stored_bytes != header.raw_bytes)
    return malformed("the block's lengths contradict each other");
  if (header.kind != BlockKind::frames &&
      (header.frames != 0 || header.streams != 0 || header.batches != 0))
    return malformed("a block without frames counts some");
  if (header.first_sequence == 0 || header.end_sequence() < header.first_sequence)
    return malformed("the block's sequences are impossible");
  return header;
}

bool checksum_matches(std::string_view header, std::string_view directory) {
  return header.size() >= block_header_bytes &&
         get<std::uint64_t>(header.data() + block_header_bytes - 8) ==
             checksum(header.substr(0, block_header_bytes - 8), directory);
}

Decoded<BlockDirectory> decode_directory(const BlockHeader& header, std::string_view directory) {
  if (std::uint64_t{header.streams} * stream_entry_bytes +
          std::uint64_t{header.batches} * batch_entry_bytes >
      directory.size())
    return malformed("the block's directory is too short for what it counts");
  ByteReader in(directory);
  BlockDirectory decoded;
  decoded.streams.reserve(header.streams);
  std::uint64_t frames = 0;
  for (std::uint32_t i = 0; i < header.streams && !in.failed(); ++i) {
    BlockStream stream;
    const auto node_bytes = in.take<std::uint32_t>();
    const auto channels = in.take<std::uint32_t>();
    const auto life = in.take<std::uint64_t>();
    stream.lowest.value = in.take<std::uint64_t>();
    stream.highest.value = in.take<std::uint64_t>();
    stream.frames = in.take<std::uint32_t>();
    if (in.take<std::uint32_t>() != 0)
      in.fail();
    const std::string_view node = in.take_bytes(node_bytes);
    const std::string_view ids = in.take_bytes(std::size_t{channels} * 4);
    if (in.failed())
      break;
    stream.stream = std::make_shared<const StreamId>(std::string(node), Lifetime{life});
    stream.channels.reserve(channels);
    for (std::size_t at = 0; at < ids.size(); at += 4)
      stream.channels.push_back(get<std::uint32_t>(ids.data() + at));
    if (stream.frames == 0 || channels == 0 || stream.lowest > stream.highest ||
        std::ranges::adjacent_find(stream.channels, std::greater_equal{}) != stream.channels.end())
      return malformed("the block's directory has an impossible stream");
    frames += stream.frames;
    decoded.streams.push_back(std::move(stream));
  }
  decoded.batches.reserve(header.batches);
  std::uint64_t batched = 0;
  for (std::uint32_t i = 0; i < header.batches && !in.failed(); ++i) {
    BlockBatch batch;
    batch.stream = in.take<std::uint32_t>();
    batch.frames = in.take<std::uint32_t>();
    batch.arrival = in.take<std::int64_t>();
    if (batch.stream >= header.streams || batch.frames == 0)
      in.fail();
    batched += batch.frames;
    decoded.batches.push_back(batch);
  }
  if (in.failed() || !in.empty())
    return malformed("the block's directory is not what its header says");
  if (frames != header.frames || batched != header.frames)
    return malformed("the block's directory does not add up");
  return decoded;
}

Decoded<BlockPtr> decode_body(const BlockHeader& header, BlockPtr stored) {
  const std::string_view bytes(stored->data(), header.stored_bytes);
  if (checksum(bytes) != header.body_checksum)
    return malformed("the checksum of the block's body differs");
  if (header.compression == Compression::none)
    return stored;
  if (ZSTD_getFrameContentSize(bytes.data(), bytes.size()) != header.raw_bytes)
    return malformed("the block's body has another length than its header says");
  BlockPtr raw = allocate_block(header.raw_bytes);
  if (!raw)
    throw std::bad_alloc();
  // A context of our own: without memory for it the answer is not "malformed".
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                     &ZSTD_freeDCtx);
  if (!context)
    throw std::bad_alloc();
  const std::size_t size =
      ZSTD_decompressDCtx(context.get(), raw->data(), header.raw_bytes, bytes.data(), bytes.size());
  if (ZSTD_isError(size) != 0 && ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation)
    throw std::bad_alloc();
  if (size != header.raw_bytes)
    return malformed("the block's body cannot be decompressed");
  return raw;
}

} // namespace datastream::format
