#include <datastream/model/utf8.hpp>

#include <cstdint>
#include <cstring>

namespace datastream {
namespace {

/// Length of the run of ASCII at the begin, found eight bytes at a time.
std::size_t ascii_prefix(std::string_view text) noexcept {
  std::size_t length = 0;
  while (text.size() - length >= sizeof(std::uint64_t)) {
    std::uint64_t chunk;
    std::memcpy(&chunk, text.data() + length, sizeof chunk);
    if (chunk & 0x8080808080808080ULL)
      break;
    length += sizeof chunk;
  }
  while (length < text.size() && static_cast<unsigned char>(text[length]) < 0x80)
    ++length;
  return length;
}

/// Bytes of the character that begins with this one, going by it alone.
std::size_t length_from_lead(char c) noexcept {
  const auto lead = static_cast<unsigned char>(c);
  return lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
}

} // namespace

Utf8Prefix utf8_prefix(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80)
    return {1, true};

  std::size_t length = 0;
  // The second byte alone rules out overlong forms, surrogates and what lies above U+10FFFF.
  unsigned char second_min = 0x80;
  unsigned char second_max = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0)
      second_min = 0xA0;
    if (lead == 0xED)
      second_max = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0)
      second_min = 0x90;
    if (lead == 0xF4)
      second_max = 0x8F;
  } else {
    return {1, false};
  }

  for (std::size_t i = 1; i < length; ++i) {
    const unsigned char least = i == 1 ? second_min : 0x80;
    const unsigned char most = i == 1 ? second_max : 0xBF;
    if (i == text.size() || byte(i) < least || byte(i) > most)
      return {i, false};
  }
  return {length, true};
}

std::string_view whole_characters(std::string_view beginning) noexcept {
  for (std::size_t back = 1; back <= 3 && back < beginning.size(); ++back) {
    const char c = beginning[beginning.size() - back];
    if (continues_character(c))
      continue;
    return length_from_lead(c) > back ? beginning.substr(0, beginning.size() - back) : beginning;
  }
  return beginning;
}

bool is_utf8(std::string_view text) noexcept {
  while (true) {
    text.remove_prefix(ascii_prefix(text));
    if (text.empty())
      return true;
    const Utf8Prefix next = utf8_prefix(text);
    if (!next.valid)
      return false;
    text.remove_prefix(next.length);
  }
}

std::string to_utf8_lossy(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Prefix next = utf8_prefix(text);
    out += next.valid ? text.substr(0, next.length) : replacement_character;
    text.remove_prefix(next.length);
  }
  return out;
}

} // namespace datastream
