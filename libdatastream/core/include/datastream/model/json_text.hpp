#pragma once
/// The atoms of JSON as this library writes it: appended to a string that the caller reuses, so
/// that nothing is allocated once it has grown. The bytes are those that peers of this protocol
/// write. All functions may be called from any thread.

#include <datastream/defaults.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace datastream {

/// A quoted string. Escaped are `"`, `\` and control characters only; what is not UTF-8 becomes
/// U+FFFD.
void append_json_string(std::string& out, std::string_view text);

void append_json_integer(std::string& out, std::uint64_t value);
void append_json_integer(std::string& out, std::int64_t value);

/// The shortest text that reads back as the same number, always with a fraction or an exponent
/// (`12.0`, `1e16`); `null` for NaN and infinities.
void append_json_floating(std::string& out, double value);
void append_json_floating(std::string& out, float value);

/// Ends an array or object whose elements were each followed by a comma.
inline void close_json(std::string& out, char bracket) {
  if (out.back() == ',')
    out.back() = bracket;
  else
    out += bracket;
}

/// A value of the JSON library. What is nested below `levels` levels is written as `null`: no
/// reader of this protocol would take it, and the rest of the document stays readable.
void append_json(std::string& out, const nlohmann::json& value,
                 std::size_t levels = defaults::json_depth);

} // namespace datastream
