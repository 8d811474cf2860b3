#pragma once
/// Bounds of the archive's format: what a reader may rely on before it allocates.

#include <datastream/defaults.hpp>

#include <cstddef>
#include <cstdint>

namespace datastream::format {

inline constexpr std::uint32_t version = 1;

inline constexpr std::size_t segment_header_bytes = 64;
inline constexpr std::size_t block_header_bytes = 64;
inline constexpr std::size_t trailer_bytes = 32;
inline constexpr std::size_t frame_entry_bytes = 16;
/// Of a directory for each stream, besides its node and its channels, and for each batch.
inline constexpr std::size_t stream_entry_bytes = 40;
inline constexpr std::size_t batch_entry_bytes = 16;
/// Of a footer for each block, besides the block's directory.
inline constexpr std::size_t index_entry_bytes = 8 + block_header_bytes;

/// Of a block's body, before compression: the largest payload, and a full block beside it.
inline constexpr std::size_t body_bytes_max = 32U << 20U;
/// Of a block's directory: a few long node names, or a stream for every frame.
inline constexpr std::size_t directory_bytes_max = 8U << 20U;
/// Of a node's or channel's name, a label or a schema.
inline constexpr std::size_t text_bytes_max = 1U << 20U;
/// Frames in one block.
inline constexpr std::size_t block_frames_max = 1U << 16U;

} // namespace datastream::format
