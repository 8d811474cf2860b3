#include "printable.hpp"

#include <datastream/model/utf8.hpp>

#include <cstdint>

namespace datastream::tool {

namespace {

void append_hex(std::string& out, std::uint32_t value, int digits) {
  while (digits-- > 0)
    out += "0123456789abcdef"[value >> (4U * static_cast<unsigned>(digits)) & 15U];
}

void append_byte(std::string& out, unsigned char byte) {
  if (byte == '\n') {
    out += "\\n";
  } else if (byte == '\r') {
    out += "\\r";
  } else if (byte == '\t') {
    out += "\\t";
  } else {
    out += "\\x";
    append_hex(out, byte, 2);
  }
}

/// The character of two or three bytes.
std::uint32_t code_point(std::string_view character) {
  std::uint32_t value =
      static_cast<unsigned char>(character[0]) & (character.size() == 2 ? 31 : 15);
  for (const char byte : character.substr(1))
    value = value << 6U | (static_cast<unsigned char>(byte) & 63U);
  return value;
}

/// C1 controls, marks and overrides of direction, separators of lines and paragraphs.
bool is_unsafe(std::uint32_t code) {
  return (code >= 0x80 && code < 0xa0) || code == 0x61c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

} // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Prefix prefix = utf8_prefix(text);
    const std::string_view character = text.substr(0, prefix.length);
    text.remove_prefix(prefix.length);
    const auto first = static_cast<unsigned char>(character[0]);
    if (!prefix.valid || (prefix.length == 1 && (first < 0x20 || first == 0x7f))) {
      for (const char byte : character)
        append_byte(out, static_cast<unsigned char>(byte));
    } else if (const std::uint32_t code =
                   prefix.length == 2 || prefix.length == 3 ? code_point(character) : 0;
               is_unsafe(code)) {
      out += "\\u";
      append_hex(out, code, 4);
    } else {
      out += character;
    }
  }
  return out;
}

} // namespace datastream::tool
