#include "segment_header.hpp"

#include "bytes.hpp"
#include "checksum.hpp"

#include <charconv>

namespace datastream::format {

namespace {

constexpr std::string_view segment_magic = "DSSEGMNT";
constexpr std::string_view trailer_magic = "DSSEALED";
constexpr std::string_view name_begin = "seg_";
constexpr std::string_view name_end = ".dss";
constexpr std::size_t number_digits = 13; // of 2^64 - 1 in base 36

} // namespace

EncodedSegmentHeader encode(const SegmentHeader& header) {
  EncodedSegmentHeader encoded;
  std::string& out = encoded.bytes;
  out.reserve(segment_header_bytes);
  out.append(segment_magic);
  put(out, version);
  put(out, header.generation);
  out.append(header.archive.data(), header.archive.size());
  put(out, header.number);
  put(out, header.first_sequence);
  put(out, header.created);
  encoded.checksum = checksum(out);
  put(out, encoded.checksum);
  return encoded;
}

Decoded<DecodedSegmentHeader> decode_segment_header(std::string_view bytes,
                                                    bool* unsupported_version) {
  if (bytes.size() < segment_header_bytes)
    return malformed("the file is shorter than a segment's header");
  if (!bytes.starts_with(segment_magic))
    return malformed("this is no segment");
  bytes = bytes.substr(0, segment_header_bytes);
  const auto sum = get<std::uint64_t>(bytes.data() + segment_header_bytes - 8);
  if (sum != checksum(bytes.substr(0, segment_header_bytes - 8)))
    return malformed("the checksum of the segment's header differs");
  ByteReader in(bytes.substr(segment_magic.size()));
  if (in.take<std::uint32_t>() != version) {
    if (unsupported_version)
      *unsupported_version = true;
    return malformed("the segment has a version that this library does not know");
  }
  DecodedSegmentHeader decoded;
  decoded.checksum = sum;
  SegmentHeader& header = decoded.header;
  header.generation = in.take<std::uint32_t>();
  in.take_bytes(header.archive.size()).copy(header.archive.data(), header.archive.size());
  header.number = in.take<std::uint64_t>();
  header.first_sequence = in.take<std::uint64_t>();
  header.created = in.take<std::int64_t>();
  if (header.first_sequence == 0)
    return malformed("the segment begins at sequence 0");
  return decoded;
}

std::string encode(const Trailer& trailer) {
  std::string out(trailer_magic);
  put(out, trailer.footer_offset);
  put(out, trailer.end_sequence);
  put(out, checksum(out));
  return out;
}

Decoded<Trailer> decode_trailer(std::string_view bytes) {
  if (bytes.size() != trailer_bytes || !bytes.starts_with(trailer_magic))
    return malformed("the segment does not end with a trailer");
  if (get<std::uint64_t>(bytes.data() + 24) != checksum(bytes.substr(0, 24)))
    return malformed("the checksum of the trailer differs");
  return Trailer{get<std::uint64_t>(bytes.data() + 8), get<std::uint64_t>(bytes.data() + 16)};
}

std::string segment_name(std::uint64_t number, std::uint32_t generation) {
  std::array<char, number_digits> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 36).ptr;
  const std::string_view significant(digits.data(), end);
  std::string name(name_begin);
  name.append(number_digits - significant.size(), '0');
  name.append(significant);
  name += '.';
  name.append(std::to_string(generation));
  name.append(name_end);
  return name;
}

std::optional<SegmentName> parse_segment_name(std::string_view name) {
  if (name.size() <= name_begin.size() + number_digits + 1 + name_end.size() ||
      !name.starts_with(name_begin) || !name.ends_with(name_end))
    return std::nullopt;
  SegmentName parsed;
  const std::string_view digits = name.substr(name_begin.size(), number_digits);
  const std::string_view generation =
      name.substr(name_begin.size() + number_digits + 1,
                  name.size() - name_begin.size() - number_digits - 1 - name_end.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), parsed.number, 36);
  std::from_chars(generation.data(), generation.data() + generation.size(), parsed.generation);
  // Only names as they are written: no capitals, no leading zeros.
  if (segment_name(parsed.number, parsed.generation) != name)
    return std::nullopt;
  return parsed;
}

} // namespace datastream::format
