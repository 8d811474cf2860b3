#pragma once
/// Reads what a block has. Errors name the sequences that it costs. Throws `std::bad_alloc`.

#include "format/block_index.hpp"
#include "format/descriptors_block.hpp"
#include "format/frames_block.hpp"
#include "segment_file.hpp"

#include <datastream/archive/archive_error.hpp>

#include <expected>

namespace datastream {

std::expected<format::FramesBlock, ArchiveError> read_frames(const SegmentFile& file,
                                                             const format::IndexEntry& entry);

std::expected<format::Descriptors, ArchiveError> read_descriptors(const SegmentFile& file,
                                                                  const format::IndexEntry& entry);

} // namespace datastream
