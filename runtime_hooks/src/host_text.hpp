#pragma once
/// What the parsers of the kernel's and tools' texts have in common. All of it is pure, takes any
/// bytes, and answers nothing instead of a wrong value.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

namespace datastream::host {

/// The text up to its last line end. A last line without one was cut off: its numbers may lack
/// digits.
inline std::string_view complete_lines(std::string_view text) {
  return text.substr(0, text.rfind('\n') + 1);
}

/// Takes the part in front of `separator`, and the separator; all of it if there is none.
inline std::string_view take_until(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(part.size() < text.size() ? part.size() + 1 : part.size());
  return part;
}

inline std::string_view take_line(std::string_view& text) {
  return take_until(text, '\n');
}

inline std::string_view trim(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const auto first = text.find_first_not_of(blank);
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(blank) - first + 1);
}

/// Takes the next word; empty when there is none.
inline std::string_view take_word(std::string_view& line) {
  constexpr std::string_view blank = " \t";
  line.remove_prefix(std::min(line.find_first_not_of(blank), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(blank));
  line.remove_prefix(word.size());
  return word;
}

/// An unsigned decimal number, and nothing else, that fits.
template <class Integer = std::uint64_t>
std::optional<Integer> to_number(std::string_view text) {
  Integer value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

/// A finite number, and nothing else.
inline std::optional<double> to_floating(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && std::isfinite(value) ? std::optional(value)
                                                                     : std::nullopt;
}

/// The same in bytes, where the text counts KiB.
inline std::optional<std::uint64_t> from_kib(std::optional<std::uint64_t> kib) {
  return kib && *kib <= std::numeric_limits<std::uint64_t>::max() / 1024
             ? std::optional(*kib * 1024)
             : std::nullopt;
}

} // namespace datastream::host
