#pragma once
/// The small file that says how far an archive is durable (docs/archive_format.md).

#include "segment_header.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace datastream::format {

/// Two places, written in turn and each with a checksum, so that one is whole at every moment.
struct Tip {
  ArchiveId archive{};
  std::uint64_t count = 0;          ///< grows with every rewrite; the higher one is the later
  std::uint64_t first_sequence = 1; ///< the oldest that is kept
  std::uint64_t end_sequence = 1;   ///< the next to be given out
  std::uint64_t segment = 0;        ///< number of the last segment
  std::uint32_t generation = 0;
  std::uint64_t offset = 0; ///< in that segment: everything before it is durable

  friend bool operator==(const Tip&, const Tip&) = default;
};

inline constexpr std::size_t tip_place_bytes = 4096; ///< never in one sector with the other
inline constexpr std::size_t tip_file_bytes = 2 * tip_place_bytes;

std::string encode(const Tip& tip);
/// The later of the whole ones in a tip file.
Decoded<Tip> decode_tip(std::string_view file, bool* unsupported_version = nullptr);
/// Offset of a place that was written and is not whole. Nobody can tell whether it is the later
/// one.
std::optional<std::size_t> damaged_tip_place(std::string_view file);

} // namespace datastream::format
