#include <datastream/model/json_text.hpp>

#include <datastream/model/utf8.hpp>

#include <charconv>
#include <cmath>
#include <concepts>

namespace datastream {
namespace {

template <std::integral T>
void append_digits(std::string& out, T value) {
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out.append(buffer, end);
}

bool is_plain(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x80 &&
         c != '"' && c != '\\';
}

void append_escaped(std::string& out, char c) {
  constexpr char hex[] = "0123456789abcdef";
  switch (c) {
  case '"':
    out += "\\\"";
    return;
  case '\\':
    out += "\\\\";
    return;
  case '\b':
    out += "\\b";
    return;
  case '\f':
    out += "\\f";
    return;
  case '\n':
    out += "\\n";
    return;
  case '\r':
    out += "\\r";
    return;
  case '\t':
    out += "\\t";
    return;
  default:
    out += "\\u00";
    out += hex[c >> 4];
    out += hex[c & 0xf];
  }
}

/// Where the writer of peers changes from positional to scientific notation: numbers whose
/// decimal point lies within [point_min, point_max] digits of the first digit are positional.
struct Notation {
  int point_min;
  int point_max;
};
constexpr Notation notation(double) { return {-4, 16}; }
constexpr Notation notation(float) { return {-5, 13}; }

template <std::floating_point T>
void append_shortest(std::string& out, T value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char buffer[32];
  const auto written =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  std::string_view text(buffer, static_cast<std::size_t>(written.ptr - buffer));
  if (text.starts_with('-')) {
    out += '-';
    text.remove_prefix(1);
  }
  // text is d[.ddd]e±xx
  const std::size_t e = text.find('e');
  int exponent = 0;
  const std::size_t exponent_at = e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(text.data() + exponent_at, text.data() + text.size(), exponent);
  char digits[24] = {text[0]};
  int count = 1;
  for (const char digit : text.substr(0, e).substr(std::min<std::size_t>(2, e)))
    digits[count++] = digit;

  const std::string_view all(digits, static_cast<std::size_t>(count));
  const int point = exponent + 1; // digits before the decimal point
  if (point < notation(value).point_min || point > notation(value).point_max) {
    out += all[0];
    if (count > 1)
      out.append(1, '.').append(all.substr(1));
    out += 'e';
    append_digits(out, exponent);
  } else if (point <= 0) {
    out.append("0.").append(static_cast<std::size_t>(-point), '0').append(all);
  } else if (count <= point) {
    out.append(all).append(static_cast<std::size_t>(point - count), '0').append(".0");
  } else {
    const auto whole = static_cast<std::size_t>(point);
    out.append(all.substr(0, whole)).append(1, '.').append(all.substr(whole));
  }
}

} // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t begin = 0; // of the run that is written as it is
  std::size_t at = 0;
  const auto flush = [&] { out.append(text.substr(begin, at - begin)); };
  while (at < text.size()) {
    if (is_plain(text[at])) {
      ++at;
      continue;
    }
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      flush();
      append_escaped(out, text[at]);
      begin = ++at;
      continue;
    }
    const Utf8Prefix next = utf8_prefix(text.substr(at));
    if (next.valid) {
      at += next.length;
    } else {
      flush();
      out += replacement_character;
      begin = at += next.length;
    }
  }
  flush();
  out += '"';
}

void append_json_integer(std::string& out, std::uint64_t value) {
  append_digits(out, value);
}

void append_json_integer(std::string& out, std::int64_t value) {
  append_digits(out, value);
}

void append_json_floating(std::string& out, double value) {
  append_shortest(out, value);
}

void append_json_floating(std::string& out, float value) {
  append_shortest(out, value);
}

} // namespace datastream
