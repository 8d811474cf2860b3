#pragma once
/// Archives put together block by block, so that a test decides what is in them.

#include "format/block_index.hpp"
#include "format/checksum.hpp"
#include "format/descriptors_block.hpp"
#include "format/frames_block.hpp"
#include "format/segment_header.hpp"
#include "format/tip.hpp"

#include <datastream/model/block.hpp>
#include <datastream/model/descriptor.hpp>
#include <datastream/model/frame.hpp>
#include <datastream/model/ids.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace datastream::test {

/// Where a block is.
struct BlockSite {
  std::filesystem::path segment;
  std::uint64_t offset = 0;
  std::uint32_t directory_bytes = 0;
  std::uint32_t body_bytes = 0;
  std::uint64_t first = 0; ///< sequence
  std::uint64_t end = 0;
  std::uint64_t size() const {
    return format::block_header_bytes + std::uint64_t{directory_bytes} + body_bytes;
  }
};

/// Begins without a segment. What is written is in its file at once, and durable for a reader after
/// `publish`.
class HandMadeArchive {
public:
  explicit HandMadeArchive(std::filesystem::path directory, char name = 'A')
      : directory_(std::move(directory)) {
    tip_.archive.fill(name);
    tip_.segment = 0;
  }

  void begin_segment(std::uint64_t skipped_numbers = 0) {
    const std::uint64_t number = tip_.segment + 1 + skipped_numbers;
    segment_ = directory_ / format::segment_name(number);
    const auto header = format::encode({.archive = tip_.archive,
                                        .number = number,
                                        .first_sequence = tip_.end_sequence,
                                        .created = 0});
    previous_ = header.checksum;
    tip_.segment = number;
    tip_.offset = 0;
    append(header.bytes);
  }

  void declare(const Declaration& declaration) {
    format::DescriptorsBlockBuilder builder;
    builder.add(declaration);
    write(builder.finish(*compressor_));
  }

  /// Into the block that is filled next.
  void add(const StreamId& stream, const std::vector<Frame>& frames, std::int64_t arrival = 0) {
    builder_.begin_batch(std::make_shared<const StreamId>(stream), arrival);
    for (const Frame& frame : frames)
      builder_.add({frame.channel, frame.position, frame.payload, {}});
  }
  BlockSite write_block() { return write(builder_.finish(*compressor_)); }
  BlockSite write_block(const StreamId& stream, const std::vector<Frame>& frames,
                        std::int64_t arrival = 0) {
    add(stream, frames, arrival);
    return write_block();
  }

  void seal() {
    const std::uint64_t offset = tip_.offset;
    write(footer_.finish(*compressor_));
    append(format::encode(format::Trailer{offset, tip_.end_sequence}));
    footer_ = {};
  }
  /// The segment stays as it is, and another one follows.
  void leave_unsealed() { footer_ = {}; }
  /// Sequences that no segment has.
  void lose(std::uint64_t frames) { tip_.end_sequence += frames; }

  void publish() {
    ++tip_.count;
    const std::filesystem::path path = directory_ / "tip";
    if (!std::filesystem::exists(path))
      std::ofstream(path, std::ios::binary) << std::string(format::tip_file_bytes, '\0');
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>((tip_.count % 2) * format::tip_place_bytes));
    file << format::encode(tip_);
  }

  /// Bodies are not compressed from now on.
  void store_raw() { is_raw_ = true; }

  const std::filesystem::path& segment() const { return segment_; }
  const std::vector<BlockSite>& blocks() const { return blocks_; }
  format::Tip& tip() { return tip_; }
  std::uint64_t next_sequence() const { return tip_.end_sequence; }

private:
  static void uncompress(format::UnplacedBlock& block) {
    BlockPtr stored = allocate_block(block.body.size());
    block.body.copy(stored->data(), block.body.size());
    const auto raw = format::decode_body(block.header, std::move(stored));
    block.body.assign((*raw)->data(), block.header.raw_bytes);
    block.header.compression = format::Compression::none;
    block.header.stored_bytes = block.header.raw_bytes;
    block.header.body_checksum = format::checksum(block.body);
  }

  BlockSite write(format::UnplacedBlock block) {
    if (is_raw_)
      uncompress(block);
    block.place(tip_.end_sequence, previous_);
    const std::string header = block.encoded_header();
    if (block.header.kind != format::BlockKind::footer)
      footer_.add(tip_.offset, header, block.directory);
    const BlockSite site{segment_,
                         tip_.offset,
                         block.header.directory_bytes,
                         block.header.stored_bytes,
                         tip_.end_sequence,
                         block.header.end_sequence()};
    append(header + block.directory + block.body);
    previous_ = block.header.checksum;
    tip_.end_sequence = block.header.end_sequence();
    if (block.header.kind != format::BlockKind::footer)
      blocks_.push_back(site);
    return site;
  }

  void append(const std::string& bytes) {
    std::ofstream(segment_, std::ios::binary | std::ios::app) << bytes;
    tip_.offset += bytes.size();
  }

  std::filesystem::path directory_;
  std::filesystem::path segment_;
  format::Tip tip_;
  std::uint64_t previous_ = 0;
  bool is_raw_ = false;
  std::unique_ptr<format::Compressor> compressor_ = std::make_unique<format::Compressor>();
  format::FramesBlockBuilder builder_;
  format::FooterBuilder footer_;
  std::vector<BlockSite> blocks_; ///< all but footers
};

} // namespace datastream::test
