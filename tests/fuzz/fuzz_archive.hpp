#pragma once
/// Arbitrary bytes as the parts of an archive's files. What is no such part is refused; what is one
/// is written again and read as the same. Each input is looked at twice: as it is, and with its
/// checksums, and what else must follow from the rest, put right, so that decoders behind a check
/// are reached.
///
/// Input: one byte that says which part, then the part.

#include "format/block_index.hpp"
#include "format/bytes.hpp"
#include "format/checksum.hpp"
#include "format/descriptors_block.hpp"
#include "format/frames_block.hpp"
#include "format/segment_header.hpp"
#include "format/tip.hpp"

#include <datastream/model/block.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <variant>

namespace datastream::fuzz {

using namespace format;

inline BlockPtr block_of(std::string_view bytes) {
  BlockPtr block = allocate_block(bytes.size());
  if (!bytes.empty())
    std::memcpy(block->data(), bytes.data(), bytes.size());
  return block;
}

/// Puts right the checksum at the end of the first `size` bytes.
inline void seal(std::string& bytes, std::size_t begin, std::size_t size) {
  if (bytes.size() >= begin + size)
    set(bytes.data() + begin + size - 8, checksum(std::string_view(bytes).substr(begin, size - 8)));
}

inline bool segment_header_holds(std::string_view bytes) {
  const auto decoded = decode_segment_header(bytes);
  if (!decoded)
    return !decoded.error().what.empty();
  const EncodedSegmentHeader again = encode(decoded->header);
  return again.bytes == bytes.substr(0, segment_header_bytes) &&
         again.checksum == decoded->checksum;
}

inline bool trailer_holds(std::string_view bytes) {
  const auto trailer = decode_trailer(bytes);
  return trailer ? encode(*trailer) == bytes : !trailer.error().what.empty();
}

inline bool tip_holds(std::string_view bytes) {
  const auto tip = decode_tip(bytes);
  if (!tip)
    return !tip.error().what.empty();
  const auto again = decode_tip(encode(*tip));
  return again && *again == *tip;
}

inline bool segment_name_holds(std::string_view bytes) {
  const auto name = parse_segment_name(bytes);
  return !name || segment_name(name->number, name->generation) == bytes;
}

inline bool same(const Declaration& a, const Declaration& b) {
  if (a.index() != b.index())
    return false;
  if (const auto* stream = std::get_if<StreamDescriptorPtr>(&a))
    return **stream == *std::get<StreamDescriptorPtr>(b);
  return *std::get<ChannelDescriptorPtr>(a) == *std::get<ChannelDescriptorPtr>(b);
}

inline bool descriptors_hold(const BlockHeader& header, const BlockPtr& body) {
  const auto descriptors = decode_descriptors(header, body);
  if (!descriptors)
    return !descriptors.error().what.empty();
  for (const Declaration& declaration : descriptors->declarations) {
    std::string bytes;
    encode(bytes, declaration);
    const auto again = decode_declaration(bytes);
    if (!again || !same(*again, declaration))
      return false;
  }
  DescriptorsBlockBuilder builder;
  for (const StreamStart& start : descriptors->starts)
    builder.add(start);
  for (const StreamEnd& end : descriptors->ends)
    builder.add(end);
  if (descriptors->source)
    builder.add_source(*descriptors->source);
  if (builder.empty())
    return true;
  Compressor compressor;
  const UnplacedBlock block = builder.finish(compressor);
  const auto again = decode_descriptors(
      block.header, *decode_body(block.header, adopt_string(std::string(block.body))));
  return again && again->starts == descriptors->starts && again->ends == descriptors->ends &&
         again->source == descriptors->source;
}

/// Frames that decode make a block, and that decodes as the same frames.
inline bool frames_hold(const BlockHeader& header, BlockDirectory directory, const BlockPtr& body) {
  const auto frames = decode_frames(header, std::move(directory), body);
  if (!frames)
    return !frames.error().what.empty();
  FramesBlockBuilder builder;
  std::size_t count = 0;
  for (std::size_t i = 0; i < frames->batches.size(); ++i) {
    builder.begin_batch(frames->batches[i].shared_stream(), frames->directory.batches[i].arrival);
    for (const FrameView& frame : frames->batches[i]) {
      builder.add(frame);
      ++count;
    }
  }
  if (count != header.frames)
    return false;
  Compressor compressor;
  const UnplacedBlock block = builder.finish(compressor);
  auto again_directory = decode_directory(block.header, block.directory);
  const auto again_body = decode_body(block.header, block_of(block.body));
  if (!again_directory || !again_body)
    return false;
  const auto again = decode_frames(block.header, std::move(*again_directory), *again_body);
  return again && std::ranges::equal(again->batches, frames->batches, [](auto& a, auto& b) {
           return a.stream() == b.stream() &&
                  std::ranges::equal(a, b, [](const FrameView& x, const FrameView& y) {
                    return x.position == y.position && x.channel == y.channel &&
                           x.payload == y.payload;
                  });
         });
}

inline bool footer_holds(const BlockHeader& header, const BlockPtr& body, std::uint64_t end) {
  const auto entries = decode_footer(header, body, end);
  if (!entries)
    return !entries.error().what.empty();
  std::uint64_t offset = segment_header_bytes;
  for (const IndexEntry& entry : *entries) {
    if (entry.offset != offset || entry.directory.streams.size() != entry.header.streams)
      return false;
    offset += entry.header.size();
  }
  return offset == end;
}

/// A whole block; `end`: where it is, if it is a footer.
inline bool block_holds(std::string_view bytes, std::uint64_t end) {
  const auto header = decode_block_header(bytes);
  if (!header)
    return !header.error().what.empty();
  const UnplacedBlock unplaced{*header, {}, {}};
  if (unplaced.encoded_header() != bytes.substr(0, block_header_bytes))
    return false;
  if (bytes.size() < header->size())
    return true; // which whoever reads files finds out
  const std::string_view directory = bytes.substr(block_header_bytes, header->directory_bytes);
  const std::string_view stored =
      bytes.substr(block_header_bytes + header->directory_bytes, header->stored_bytes);
  if (!checksum_matches(bytes.substr(0, block_header_bytes), directory))
    return true;
  auto decoded = decode_directory(*header, directory);
  const auto body = decode_body(*header, block_of(stored));
  if (!decoded || !body)
    return !(decoded ? body.error() : decoded.error()).what.empty();
  switch (header->kind) {
  case BlockKind::frames:
    return frames_hold(*header, std::move(*decoded), *body);
  case BlockKind::descriptors:
    return descriptors_hold(*header, *body);
  case BlockKind::footer:
    return footer_holds(*header, *body, end);
  }
  return false;
}

/// Makes the blocks in a footer's body follow each other; returns where the footer then is.
inline std::uint64_t chain(char* body, std::size_t size) {
  std::uint64_t offset = segment_header_bytes;
  std::uint64_t previous = 0;
  std::uint64_t sequence = 1;
  std::size_t at = 4;
  while (at <= size && size - at >= 8 + block_header_bytes) {
    set(body + at, offset);
    char* head = body + at + 8;
    set(head + 24, sequence);
    set(head + 32, previous);
    const auto directory =
        std::min<std::size_t>(get<std::uint32_t>(head + 8), size - at - 8 - block_header_bytes);
    previous = checksum({head, block_header_bytes - 8}, {head + block_header_bytes, directory});
    set(head + 56, previous);
    sequence += get<std::uint32_t>(head + 20);
    offset += block_header_bytes + directory + get<std::uint32_t>(head + 12);
    at += 8 + block_header_bytes + directory;
  }
  return offset;
}

/// Puts lengths and checksums of a block right; returns where it is, if it is a footer.
inline std::uint64_t put_block_right(std::string& bytes) {
  if (bytes.size() < block_header_bytes)
    return 0;
  char* head = bytes.data();
  const std::size_t rest = bytes.size() - block_header_bytes;
  const auto directory = std::min<std::size_t>(get<std::uint32_t>(head + 8), rest);
  const std::size_t stored = rest - directory;
  set(head + 8, static_cast<std::uint32_t>(directory));
  set(head + 12, static_cast<std::uint32_t>(stored));
  if (head[5] == 0)
    set(head + 16, static_cast<std::uint32_t>(stored));
  std::uint64_t end = 0;
  if (head[4] == static_cast<char>(BlockKind::footer) && head[5] == 0)
    end = chain(head + block_header_bytes + directory, stored);
  set(head + 40, checksum({head + block_header_bytes + directory, stored}));
  set(head + 56, checksum({head, block_header_bytes - 8}, {head + block_header_bytes, directory}));
  return end;
}

inline bool archive_holds(std::string_view input) {
  if (input.empty())
    return true;
  const auto part = static_cast<unsigned char>(input.front()) % 5;
  input.remove_prefix(1);
  std::string right(input);
  switch (part) {
  case 0:
    seal(right, 0, segment_header_bytes);
    return segment_header_holds(input) && segment_header_holds(right);
  case 1:
    for (const std::size_t begin : {std::size_t{0}, tip_place_bytes})
      seal(right, begin, 88);
    return tip_holds(input) && tip_holds(right);
  case 2:
    seal(right, 0, trailer_bytes);
    return trailer_holds(input) && trailer_holds(right);
  case 3:
    return segment_name_holds(input);
  default:
    const std::uint64_t end = put_block_right(right);
    return block_holds(input, input.size()) && block_holds(right, end);
  }
}

} // namespace datastream::fuzz
