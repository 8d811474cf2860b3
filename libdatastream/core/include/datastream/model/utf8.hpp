#pragma once
/// UTF-8 as payload readers and JSON writers need it: a check, and the usual replacement of what
/// is not text. All functions may be called from any thread.

#include <cstddef>
#include <string>
#include <string_view>

namespace datastream {

/// How U+FFFD, the replacement character, is written in UTF-8.
inline constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

/// The first character of some text, or the first bytes of it that are none.
struct Utf8Prefix {
  std::size_t length; ///< bytes; at least 1
  bool valid;         ///< false: these bytes together count as one replacement character
};

/// Looks at the begin of a non-empty text. What is not a character is cut as Unicode recommends
/// ("maximal subpart"): a sequence that breaks off counts once, any other stray byte by itself.
Utf8Prefix utf8_prefix(std::string_view text) noexcept;

/// Whether this byte belongs to a character that began before it, going by it alone.
constexpr bool continues_character(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80;
}

/// The beginning of a longer text without a character that the cut went through: at most three
/// bytes less. Of text that is no UTF-8 it is as much or a little less.
std::string_view whole_characters(std::string_view beginning) noexcept;

/// Is all of it UTF-8? The empty text is.
bool is_utf8(std::string_view text) noexcept;

/// The text with everything that is not UTF-8 replaced by U+FFFD.
std::string to_utf8_lossy(std::string_view text);

} // namespace datastream
