#include "tip.hpp"

#include "bytes.hpp"
#include "checksum.hpp"

#include <algorithm>
#include <optional>

namespace datastream::format {

namespace {

constexpr std::string_view magic = "DSTIPTIP";
constexpr std::size_t bytes_used = 88;
constexpr std::size_t places[] = {0, tip_place_bytes};

/// The bytes of a place, as many as there are.
std::string_view bytes_of(std::string_view file, std::size_t place) {
  return file.substr(std::min(place, file.size())).substr(0, bytes_used);
}

bool is_whole(std::string_view place) {
  return place.size() == bytes_used && place.starts_with(magic) &&
         get<std::uint64_t>(place.data() + bytes_used - 8) ==
             checksum(place.substr(0, bytes_used - 8));
}

} // namespace

std::string encode(const Tip& tip) {
  std::string out(magic);
  put(out, version);
  put(out, tip.generation);
  out.append(tip.archive.data(), tip.archive.size());
  put(out, tip.count);
  put(out, tip.first_sequence);
  put(out, tip.end_sequence);
  put(out, tip.segment);
  put(out, tip.offset);
  put(out, std::uint64_t{0}); // reserved
  put(out, checksum(out));
  return out;
}

Decoded<Tip> decode_tip(std::string_view file, bool* unsupported_version) {
  std::optional<Tip> latest;
  bool unsupported = false;
  for (const std::size_t begin : places) {
    const std::string_view place = bytes_of(file, begin);
    if (!is_whole(place))
      continue;
    ByteReader in(place.substr(magic.size()));
    if (in.take<std::uint32_t>() != version) {
      unsupported = true;
      continue;
    }
    Tip tip;
    tip.generation = in.take<std::uint32_t>();
    in.take_bytes(tip.archive.size()).copy(tip.archive.data(), tip.archive.size());
    tip.count = in.take<std::uint64_t>();
    tip.first_sequence = in.take<std::uint64_t>();
    tip.end_sequence = in.take<std::uint64_t>();
    tip.segment = in.take<std::uint64_t>();
    tip.offset = in.take<std::uint64_t>();
    if (!latest || latest->count < tip.count)
      latest = tip;
  }
  if (unsupported) {
    if (unsupported_version)
      *unsupported_version = true;
    return malformed("the tip has a version that this library does not know");
  }
  if (!latest)
    return malformed("neither place of the tip is whole");
  return *latest;
}

std::optional<std::size_t> damaged_tip_place(std::string_view file) {
  for (const std::size_t begin : places) {
    const std::string_view place = bytes_of(file, begin);
    const bool was_never_written =
        place.size() == bytes_used && place.find_first_not_of('\0') == std::string_view::npos;
    if (!is_whole(place) && !was_never_written)
      return begin;
  }
  return std::nullopt;
}

} // namespace datastream::format
