#include "block_index.hpp"

#include "bytes.hpp"

#include <utility>

namespace datastream::format {

void FooterBuilder::add(std::uint64_t offset, std::string_view header, std::string_view directory) {
  if (count_ == 0)
    put(body_, count_);
  put(body_, offset);
  body_.append(header);
  body_.append(directory);
  ++count_;
}

UnplacedBlock FooterBuilder::finish(Compressor& compressor) {
  if (count_ == 0)
    put(body_, count_);
  set(body_.data(), count_);
  BlockHeader header;
  header.kind = BlockKind::footer;
  count_ = 0;
  return compressor.finish(header, {}, std::exchange(body_, {}));
}

Decoded<std::vector<IndexEntry>> decode_footer(const BlockHeader& header, const BlockPtr& body,
                                               std::uint64_t end) {
  ByteReader in({body->data(), header.raw_bytes});
  const auto count = in.take<std::uint32_t>();
  std::vector<IndexEntry> entries;
  std::uint64_t offset = segment_header_bytes;
  if (end < offset)
    return malformed("the footer lies within the segment's header");
  for (std::uint32_t i = 0; i < count; ++i) {
    IndexEntry entry;
    entry.offset = in.take<std::uint64_t>();
    const std::string_view bytes = in.take_bytes(block_header_bytes);
    if (in.failed())
      break;
    auto block = decode_block_header(bytes);
    if (!block)
      return std::unexpected(block.error());
    entry.header = *block;
    const std::string_view directory = in.take_bytes(block->directory_bytes);
    if (in.failed() || !checksum_matches(bytes, directory))
      return malformed("the footer has a block whose checksum differs");
    if (entry.offset != offset || block->size() > end - offset ||
        block->kind == BlockKind::footer ||
        (!entries.empty() && (block->previous != entries.back().header.checksum ||
                              block->first_sequence != entries.back().header.end_sequence())))
      return malformed("the footer's blocks do not follow each other");
    auto decoded = decode_directory(*block, directory);
    if (!decoded)
      return std::unexpected(decoded.error());
    entry.directory = std::move(*decoded);
    offset += block->size();
    entries.push_back(std::move(entry));
  }
  if (in.failed() || !in.empty() || offset != end)
    return malformed("the footer does not have the segment's blocks");
  return entries;
}

} // namespace datastream::format
