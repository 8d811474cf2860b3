#pragma once
/// Batches to store, and an eye on what is stored that shares nothing with the writer but the
/// format.

#include "errors.hpp"
#include "format/descriptors_block.hpp"
#include "format/frames_block.hpp"
#include "format/segment_header.hpp"
#include "segment_file.hpp"
#include "segment_writer.hpp"
#include "temporary_directory.hpp"

#include <datastream/archive/archive.hpp>
#include <datastream/model/frame_batch.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace datastream::test {

inline const StreamId node_a{"node-a", {7}};
inline const StreamId node_b{"node-b", {8}};

inline std::unique_ptr<Archive> opened(const std::filesystem::path& directory,
                                       ArchiveOptions options = {}) {
  auto archive = Archive::open(directory, std::move(options));
  if (!archive)
    FAIL(archive.error());
  return std::move(*archive);
}

/// Frames at `first` to `first + count - 1`, whose payloads name their positions.
inline FrameBatch batch_of(const StreamId& stream, std::uint64_t first, std::size_t count,
                           std::uint32_t channel = 1, std::size_t payload_bytes = 0) {
  std::vector<Frame> frames;
  for (std::uint64_t position = first; position < first + count; ++position) {
    std::string payload = stream.node.value + ' ' + std::to_string(position);
    payload.resize(std::max(payload.size(), payload_bytes), '.');
    frames.push_back({{channel}, {position}, std::move(payload)});
  }
  return FrameBatch::copy_of(stream, frames);
}

inline Declaration stream_declaration(const StreamId& stream) {
  return std::make_shared<const StreamDescriptor>(StreamDescriptor{stream, "label", {}});
}

inline Declaration channel_declaration(const StreamId& stream, std::uint32_t channel,
                                       std::string name) {
  return std::make_shared<const ChannelDescriptor>(
      ChannelDescriptor{stream, {channel}, std::move(name), {}, TextStream{}});
}

struct StoredFrame {
  std::uint64_t sequence = 0;
  StreamId stream;
  Frame frame;
  friend bool operator==(const StoredFrame&, const StoredFrame&) = default;
};

/// The names of the segments in a directory, in order.
inline std::vector<std::string> segment_names(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (format::parse_segment_name(entry.path().filename().string()))
      names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

/// Every frame that the segments have, whole block by whole block up to the first that is not.
inline std::vector<StoredFrame> frames_in(const std::filesystem::path& directory) {
  std::vector<StoredFrame> frames;
  for (const std::string& name : segment_names(directory)) {
    const auto segment = SegmentFile::open(posix_file_system(), directory / name);
    REQUIRE(segment);
    const std::uint64_t size = *segment->size();
    BlockPlace place = segment->begin();
    while (place.offset < size) {
      const auto entry = segment->read_entry(place, size);
      if (!entry || entry->header.kind == format::BlockKind::footer)
        break;
      const auto body = segment->read_body(*entry);
      if (!body)
        break;
      if (entry->header.kind == format::BlockKind::frames) {
        const auto decoded = format::decode_frames(entry->header, entry->directory, *body);
        REQUIRE(decoded);
        std::uint64_t sequence = entry->header.first_sequence;
        for (const FrameBatch& batch : decoded->batches)
          for (const FrameView& frame : batch)
            frames.push_back({sequence++, batch.stream(), frame.to_frame()});
      }
      place = behind(*entry);
    }
  }
  return frames;
}

inline std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_bytes(const std::filesystem::path& file, const std::string& bytes) {
  std::filesystem::permissions(file, std::filesystem::perms::owner_write,
                               std::filesystem::perm_options::add);
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

/// Damages a byte of a file, or mends it again.
inline void flip_bit(const std::filesystem::path& file, std::uint64_t byte, unsigned bit = 0) {
  std::string bytes = bytes_of(file);
  REQUIRE(byte < bytes.size());
  bytes[byte] ^= static_cast<char>(1U << bit);
  write_bytes(file, bytes);
}

} // namespace datastream::test
