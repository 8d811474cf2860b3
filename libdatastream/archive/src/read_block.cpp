#include "read_block.hpp"

#include <utility>

namespace datastream {

using namespace format;

namespace {

template <class T>
std::expected<T, ArchiveError> checked(const SegmentFile& file, const IndexEntry& entry,
                                       Decoded<T> decoded) {
  if (!decoded)
    return std::unexpected(costing(damaged(file.path(), entry.offset, decoded.error()),
                                   entry.header.first_sequence, entry.header.end_sequence()));
  return std::move(*decoded);
}

std::expected<BlockPtr, ArchiveError> read_body(const SegmentFile& file, const IndexEntry& entry) {
  auto body = file.read_body(entry);
  if (!body)
    return std::unexpected(
        costing(std::move(body.error()), entry.header.first_sequence, entry.header.end_sequence()));
  return body;
}

} // namespace

std::expected<FramesBlock, ArchiveError> read_frames(const SegmentFile& file,
                                                     const IndexEntry& entry) {
  const auto body = read_body(file, entry);
  if (!body)
    return std::unexpected(body.error());
  return checked(file, entry, decode_frames(entry.header, entry.directory, *body));
}

std::expected<Descriptors, ArchiveError> read_descriptors(const SegmentFile& file,
                                                          const IndexEntry& entry) {
  const auto body = read_body(file, entry);
  if (!body)
    return std::unexpected(body.error());
  return checked(file, entry, decode_descriptors(entry.header, *body));
}

} // namespace datastream
