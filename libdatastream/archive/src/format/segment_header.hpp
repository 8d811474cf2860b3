#pragma once
/// What a segment file begins and ends with (docs/archive_format.md).

#include "format_error.hpp"
#include "limits.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace datastream::format {

/// Random, the same in every file of one archive: files of two archives are never taken together.
using ArchiveId = std::array<char, 16>;

struct SegmentHeader {
  ArchiveId archive{};
  std::uint32_t generation = 0;
  std::uint64_t number = 0;
  std::uint64_t first_sequence = 0;
  std::int64_t created = 0; ///< microseconds since 1970

  friend bool operator==(const SegmentHeader&, const SegmentHeader&) = default;
};

struct EncodedSegmentHeader {
  std::string bytes;          ///< `segment_header_bytes` of them
  std::uint64_t checksum = 0; ///< what the first block names as the one before it
};
EncodedSegmentHeader encode(const SegmentHeader& header);

struct DecodedSegmentHeader {
  SegmentHeader header;
  std::uint64_t checksum = 0;
};
/// `unsupported_version` is set when nothing but the version is wrong.
Decoded<DecodedSegmentHeader> decode_segment_header(std::string_view bytes,
                                                    bool* unsupported_version = nullptr);

/// The last bytes of a sealed segment: where its footer begins.
struct Trailer {
  std::uint64_t footer_offset = 0;
  std::uint64_t end_sequence = 0; ///< behind its last frame
};
std::string encode(const Trailer& trailer);
Decoded<Trailer> decode_trailer(std::string_view bytes);

/// `seg_000000000000z.0.dss`
std::string segment_name(std::uint64_t number, std::uint32_t generation = 0);
struct SegmentName {
  std::uint64_t number = 0;
  std::uint32_t generation = 0;
};
/// Nothing for any other name.
std::optional<SegmentName> parse_segment_name(std::string_view name);

} // namespace datastream::format
