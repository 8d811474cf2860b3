#pragma once
/// Owned payload bytes, as all references hold them.

#include <cstdint>
#include <string_view>
#include <vector>

namespace reference {

using Bytes = std::vector<std::uint8_t>;

/// A copy of `payload`, made in one block: a vector built from iterators of another byte type is
/// filled byte by byte, at ten times the cost for 1 KiB.
inline Bytes to_bytes(std::string_view payload) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(payload.data());
  return {begin, begin + payload.size()};
}

inline std::string_view view(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

} // namespace reference
