#pragma once
/// Integers in little-endian order, at any address.

#include <bit>
#include <concepts>
#include <cstring>

namespace datastream::detail {

template <std::unsigned_integral Integer>
Integer load_little(const char* from) noexcept {
  Integer value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (std::endian::native == std::endian::big)
    value = std::byteswap(value);
  return value;
}

/// Returns the address behind what was written.
template <std::unsigned_integral Integer>
char* store_little(char* to, Integer value) noexcept {
  if constexpr (std::endian::native == std::endian::big)
    value = std::byteswap(value);
  std::memcpy(to, &value, sizeof value);
  return to + sizeof value;
}

} // namespace datastream::detail
