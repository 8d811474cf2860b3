#include <datastream/model/json_error.hpp>

#include <utility>

namespace datastream {

std::string JsonError::message() const {
  std::string text = field.empty() ? reason : field + ": " + reason;
  if (offset)
    text += " (at byte " + std::to_string(*offset) + ')';
  return text;
}

JsonError JsonError::in(std::string_view name) && {
  const bool needs_dot = !field.empty() && !field.starts_with('[');
  field = std::string(name) + (needs_dot ? "." : "") + field;
  return std::move(*this);
}

} // namespace datastream
