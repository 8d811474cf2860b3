#pragma once
/// What the program that is killed writes: each frame follows from its stream and position.

#include <datastream/archive/archive.hpp>
#include <datastream/model/frame_batch.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace datastream::test {

inline ArchiveOptions small_segments() {
  return {.group_bytes = 8U << 10U,
          .group_delay = std::chrono::milliseconds(1),
          .segment_bytes = 48U << 10U};
}

/// Goes on after every kill.
inline StreamId steady_stream() {
  return {"steady", {1}};
}

/// Of one life of the program.
inline StreamId reborn_stream(std::string node, std::uint64_t life) {
  return {std::move(node), {life}};
}

/// Of lengths from 0 to 199, of bytes that cannot be compressed.
inline Frame written_frame(const StreamId& stream, std::uint64_t position) {
  std::uint64_t state = std::hash<StreamId>{}(stream) + position * 0x9e3779b97f4a7c15ULL;
  const auto draw = [&] {
    state = (state ^ state >> 31U) * 0xbf58476d1ce4e5b9ULL + 1;
    return state >> 32U;
  };
  std::string payload(draw() % 200, '\0');
  for (char& byte : payload)
    byte = static_cast<char>(draw());
  return {{1 + static_cast<std::uint32_t>(position % 3)}, {position}, std::move(payload)};
}

inline FrameBatch written_frames(const StreamId& stream, std::uint64_t first, std::size_t count) {
  std::vector<Frame> frames;
  for (std::uint64_t position = first; position < first + count; ++position)
    frames.push_back(written_frame(stream, position));
  return FrameBatch::copy_of(stream, frames);
}

} // namespace datastream::test
