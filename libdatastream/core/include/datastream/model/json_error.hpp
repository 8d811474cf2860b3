#pragma once
/// Why some JSON could not be read.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace datastream {

struct JsonError {
  enum class Kind {
    syntax,          ///< not one JSON document, or text that is not UTF-8
    too_deep,        ///< nested more than `defaults::json_depth` levels
    too_large,       ///< 4 GiB or more of text
    wrong_type,      ///< for example a string where a number belongs
    wrong_length,    ///< a positional array with too few or too many elements
    out_of_range,    ///< a number that the field cannot hold
    missing_field,   ///< a field without default is absent
    duplicate_field, ///< a known field occurs twice
    unknown_variant, ///< the name is none of the alternatives
  };

  Kind kind = Kind::syntax;
  std::string reason;
  std::optional<std::size_t> offset; ///< byte of the input; known for syntax errors
  std::string field; ///< path such as `channels[3].id`, empty for the document itself

  /// All of it in one line, for example `stream.life: expected an unsigned integer`.
  std::string message() const;

  /// The same error, seen from the object or array that the field `name` or `[index]` belongs to.
  JsonError in(std::string_view name) &&;

  friend bool operator==(const JsonError&, const JsonError&) = default;
};

} // namespace datastream
