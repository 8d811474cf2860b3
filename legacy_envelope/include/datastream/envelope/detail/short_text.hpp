#pragma once
/// Names of nodes, which are a few characters of ASCII mostly: what every envelope has to ask about
/// its name, without a call and without a loop.

#include <datastream/model/utf8.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace datastream::detail {

/// The first and the last bytes of a text, as many as a chunk has; they overlap in a shorter one
/// than two chunks. The text must not be shorter than a chunk.
template <class Chunk>
struct Ends {
  explicit Ends(std::string_view text) noexcept {
    std::memcpy(&first, text.data(), sizeof first);
    std::memcpy(&last, text.data() + text.size() - sizeof last, sizeof last);
  }
  bool is_ascii() const noexcept {
    return ((first | last) & static_cast<Chunk>(0x8080808080808080ULL)) == 0;
  }
  friend bool operator==(const Ends&, const Ends&) = default;

  Chunk first;
  Chunk last;
};

/// As `is_utf8`.
inline bool is_utf8_name(std::string_view name) noexcept {
  const std::size_t size = name.size();
  if (size >= 8 && size <= 16 && Ends<std::uint64_t>(name).is_ascii())
    return true;
  if (size >= 4 && size < 8 && Ends<std::uint32_t>(name).is_ascii())
    return true;
  return is_utf8(name);
}

/// As `a == b`.
inline bool same_name(std::string_view a, std::string_view b) noexcept {
  const std::size_t size = a.size();
  if (size != b.size())
    return false;
  if (size >= 8 && size <= 16)
    return Ends<std::uint64_t>(a) == Ends<std::uint64_t>(b);
  if (size >= 4 && size < 8)
    return Ends<std::uint32_t>(a) == Ends<std::uint32_t>(b);
  return a == b;
}

} // namespace datastream::detail
