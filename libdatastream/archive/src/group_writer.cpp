#include "group_writer.hpp"

#include "format/time.hpp"

#include <chrono>
#include <utility>
#include <vector>

namespace datastream {

std::expected<void, WriteFailure> GroupWriter::open(StoredPositions& positions) {
  if (opened_.segment) // otherwise the last try has failed, and knew it from the one before
    committed_ = {opened_.segment->number(), opened_.segment->end().offset};
  // RocksDB lets nobody else open its files.
  opened_ = {};
  metadata_batch_ = {};
  sealed_ = false;
  auto opened = recover(
      directory_,
      {.files = files_, .metadata = options_.metadata, .reindex = false, .committed = committed_},
      catalog_, positions);
  if (!opened)
    return std::unexpected(std::move(opened.error()));
  opened_ = std::move(*opened);
  return {};
}

bool GroupWriter::has_room(std::uint64_t bytes, std::size_t index_bytes) const noexcept {
  const SegmentWriter& segment = *opened_.segment;
  if (segment.empty()) // which takes any group
    return true;
  return segment.end().offset + bytes <= options_.segment_bytes &&
         segment.index_bytes() + index_bytes <= defaults::archive_index_bytes;
}

std::expected<LaidOutGroup, WriteFailure> GroupWriter::lay_out(Group& group) {
  std::vector<FilledBlock> filled = group.take_blocks(compressor_);
  std::uint64_t bytes = 0;
  for (const FilledBlock& block : filled)
    bytes += block.block.size();
  if (!has_room(bytes, group.index_bytes()))
    if (auto next = next_segment(); !next)
      return std::unexpected(std::move(next.error()));
  return datastream::lay_out(group.said(), std::move(filled), opened_.segment->declarations(),
                             catalog_, options_.source, compressor_);
}

std::expected<void, WriteFailure> GroupWriter::store(LaidOutGroup& laid_out, Group& group) {
  auto committed = opened_.segment->commit(laid_out.blocks, std::move(laid_out.said));
  for (format::UnplacedBlock& block : laid_out.blocks)
    group.reuse(std::move(block.body));
  return committed;
}

std::expected<void, WriteFailure> GroupWriter::next_segment() {
  SegmentWriter& segment = *opened_.segment;
  auto bytes = segment.seal(compressor_);
  if (!bytes)
    return std::unexpected(std::move(bytes.error()));
  metadata_batch_.add(ListedSegment{segment.number(), segment.header().first_sequence,
                                    segment.end().sequence, *bytes});
  sealed_ = true;
  format::SegmentHeader header;
  header.archive = opened_.archive;
  header.number = segment.number() + 1;
  header.first_sequence = segment.end().sequence;
  header.created = format::microseconds_of(std::chrono::system_clock::now());
  auto next = SegmentWriter::create(files_, directory_, header);
  if (!next)
    return std::unexpected(std::move(next.error()));
  *opened_.segment = std::move(*next);
  return {};
}

std::expected<void, ArchiveError> GroupWriter::publish() {
  return opened_.tip->write({.archive = opened_.archive,
                             .first_sequence = opened_.first_sequence,
                             .end_sequence = opened_.segment->end().sequence,
                             .segment = opened_.segment->number(),
                             .offset = opened_.segment->end().offset});
}

std::expected<void, ArchiveError> GroupWriter::follow(const Said& said,
                                                      const StoredPositions::Changes& changes) {
  for (const Declaration& declaration : said.declarations)
    metadata_batch_.add(declaration);
  for (const StoredPositions::Change& change : changes.pages)
    metadata_batch_.set_positions(change.stream, change.page, change.positions);
  metadata_batch_.set_cursor({opened_.segment->number(), opened_.segment->end()});
  const bool sync =
      std::exchange(sealed_, false) || options_.metadata_sync == MetadataSync::every_commit;
  return opened_.metadata->write(std::exchange(metadata_batch_, {}), sync);
}

std::expected<void, ArchiveError> GroupWriter::close() {
  auto synced = opened_.metadata->sync();
  opened_ = {};
  return synced;
}

} // namespace datastream
