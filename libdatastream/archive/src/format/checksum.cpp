#include "checksum.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace datastream::format {

std::uint64_t checksum(std::string_view bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t checksum(std::string_view first, std::string_view second) noexcept {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, first.data(), first.size());
  XXH3_64bits_update(&state, second.data(), second.size());
  return XXH3_64bits_digest(&state);
}

std::uint64_t fingerprint(std::uint32_t channel, std::string_view payload) noexcept {
  return XXH3_64bits_withSeed(payload.data(), payload.size(), channel);
}

} // namespace datastream::format
