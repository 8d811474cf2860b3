#include "segment_file.hpp"

#include <array>
#include <new>
#include <string_view>
#include <utility>

namespace datastream {

using namespace format;

BlockPlace behind(const IndexEntry& entry) {
  return {entry.offset + entry.header.size(), entry.header.end_sequence(), entry.header.checksum};
}

std::expected<SegmentFile, ArchiveError> SegmentFile::open(FileSystem& files,
                                                           const std::filesystem::path& path) {
  auto file = files.open(path, FileSystem::Mode::read);
  if (!file)
    return archive_failed(file.error());
  SegmentFile segment(path, std::move(*file));
  std::array<char, segment_header_bytes> bytes{};
  const auto count = segment.file_->read(0, bytes);
  if (!count)
    return archive_failed(count.error());
  bool unsupported = false;
  const auto header = decode_segment_header({bytes.data(), *count}, &unsupported);
  if (!header) {
    ArchiveError error = damaged(path, 0, header.error());
    if (unsupported)
      error.kind = ArchiveError::Kind::unsupported;
    return std::unexpected(std::move(error));
  }
  segment.header_ = *header;
  return segment;
}

BlockPlace SegmentFile::begin() const noexcept {
  return {segment_header_bytes, header_.header.first_sequence, header_.checksum};
}

std::expected<std::uint64_t, ArchiveError> SegmentFile::size() const {
  const auto size = file_->size();
  if (!size)
    return archive_failed(size.error());
  return *size;
}

std::expected<BlockPtr, ArchiveError> SegmentFile::read(std::uint64_t offset,
                                                        std::size_t bytes) const {
  BlockPtr block = allocate_block(bytes);
  if (!block)
    throw std::bad_alloc();
  const auto count = file_->read(offset, {block->data(), bytes});
  if (!count)
    return archive_failed(count.error());
  if (*count < bytes)
    return damaged_at(offset, {"the file ends " + std::to_string(bytes - *count) +
                               " bytes before what begins here"});
  return block;
}

std::expected<IndexEntry, ArchiveError> SegmentFile::read_entry(const BlockPlace& place,
                                                                std::uint64_t limit) const {
  auto entry = read_entry_at(place.offset, limit);
  if (entry &&
      (entry->header.previous != place.checksum || entry->header.first_sequence != place.sequence))
    return damaged_at(place.offset, {"the block does not follow the one before it"});
  return entry;
}

std::expected<IndexEntry, ArchiveError> SegmentFile::read_entry_at(std::uint64_t offset,
                                                                   std::uint64_t limit) const {
  if (limit < offset || limit - offset < block_header_bytes)
    return damaged_at(offset, {"too few bytes for a block"});
  const auto header_block = read(offset, block_header_bytes);
  if (!header_block)
    return std::unexpected(header_block.error());
  const std::string_view bytes((*header_block)->data(), block_header_bytes);
  const auto header = decode_block_header(bytes);
  if (!header)
    return damaged_at(offset, header.error());
  if (header->size() > limit - offset)
    return damaged_at(offset, {"the block is longer than the file"});
  const auto directory_block = read(offset + block_header_bytes, header->directory_bytes);
  if (!directory_block)
    return std::unexpected(directory_block.error());
  const std::string_view directory((*directory_block)->data(), header->directory_bytes);
  if (!checksum_matches(bytes, directory))
    return damaged_at(offset, {"the checksum of the block's header differs"});
  auto decoded = decode_directory(*header, directory);
  if (!decoded)
    return damaged_at(offset, decoded.error());
  return IndexEntry{offset, *header, std::move(*decoded)};
}

std::expected<std::size_t, ArchiveError> SegmentFile::read_bytes(std::uint64_t offset,
                                                                 std::span<char> into) const {
  const auto count = file_->read(offset, into);
  if (!count)
    return archive_failed(count.error());
  return *count;
}

std::expected<BlockPtr, ArchiveError> SegmentFile::read_body(const IndexEntry& entry) const {
  const std::size_t head = block_header_bytes + entry.header.directory_bytes;
  auto head_block = read(entry.offset, head);
  if (!head_block)
    return std::unexpected(head_block.error());
  const std::string_view bytes((*head_block)->data(), head);
  const auto header = decode_block_header(bytes);
  if (!header)
    return damaged_at(entry.offset, header.error());
  if (*header != entry.header ||
      !checksum_matches(bytes.substr(0, block_header_bytes), bytes.substr(block_header_bytes)))
    return damaged_at(entry.offset, {"the block's header is not the one in the segment's index"});
  auto stored = read(entry.offset + head, entry.header.stored_bytes);
  if (!stored)
    return std::unexpected(stored.error());
  auto body = decode_body(entry.header, std::move(*stored));
  if (!body)
    return damaged_at(entry.offset, body.error());
  return std::move(*body);
}

std::expected<std::optional<Trailer>, ArchiveError>
SegmentFile::read_trailer(std::uint64_t size) const {
  if (size < segment_header_bytes + block_header_bytes + trailer_bytes)
    return std::nullopt;
  const auto end = read(size - trailer_bytes, trailer_bytes);
  if (!end)
    return std::unexpected(end.error());
  const auto trailer = decode_trailer({(*end)->data(), trailer_bytes});
  return trailer ? std::optional(*trailer) : std::nullopt;
}

std::expected<std::optional<SegmentFile::Sealed>, ArchiveError>
SegmentFile::read_footer(std::uint64_t size) const {
  const auto found = read_trailer(size);
  if (!found)
    return std::unexpected(found.error());
  if (!*found)
    return std::nullopt;
  const Trailer* const trailer = &**found;
  if (trailer->footer_offset > size - trailer_bytes)
    return damaged_at(size - trailer_bytes, {"the trailer points behind the file"});
  const auto head = read(trailer->footer_offset, block_header_bytes);
  if (!head)
    return std::unexpected(head.error());
  const std::string_view bytes((*head)->data(), block_header_bytes);
  const auto header = decode_block_header(bytes);
  if (!header)
    return damaged_at(trailer->footer_offset, header.error());
  if (header->kind != BlockKind::footer || header->directory_bytes != 0 ||
      !checksum_matches(bytes, {}) ||
      header->size() != size - trailer_bytes - trailer->footer_offset ||
      header->first_sequence != trailer->end_sequence)
    return damaged_at(trailer->footer_offset, {"the segment's footer is damaged"});
  auto stored = read(trailer->footer_offset + block_header_bytes, header->stored_bytes);
  if (!stored)
    return std::unexpected(stored.error());
  auto body = decode_body(*header, std::move(*stored));
  if (!body)
    return damaged_at(trailer->footer_offset, body.error());
  auto entries = decode_footer(*header, *body, trailer->footer_offset);
  if (!entries)
    return damaged_at(trailer->footer_offset, entries.error());
  const BlockPlace last = entries->empty() ? begin() : behind(entries->back());
  if (last.sequence != trailer->end_sequence || last.checksum != header->previous ||
      (!entries->empty() && entries->front().header.previous != header_.checksum))
    return damaged_at(trailer->footer_offset, {"the footer is that of another segment"});
  return Sealed{std::move(*entries), last};
}

} // namespace datastream
