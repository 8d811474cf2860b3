#include <datastream/model/json_document.hpp>

#include <datastream/defaults.hpp>

#include <nlohmann/json.hpp>

#include <bit>
#include <string>

namespace datastream {

/// Receives a document piece by piece from the JSON library's parser. Answering false ends it.
class JsonDocumentBuilder {
public:
  using Kind = JsonDocument::Kind;

  bool null() { return add(Kind::null, 0); }
  bool boolean(bool value) { return add(Kind::boolean, value); }
  bool number_unsigned(std::uint64_t value) { return add(Kind::unsigned_integer, value); }
  bool number_integer(std::int64_t value) {
    // The parser reports integers with a sign here, so 0 was "-0", which only a floating number
    // can hold.
    return value == 0 ? number_float(-0.0, {})
                      : add(Kind::negative_integer, static_cast<std::uint64_t>(value));
  }
  bool number_float(double value, const std::string&) {
    return add(Kind::floating, std::bit_cast<std::uint64_t>(value));
  }
  bool string(const std::string& value) {
    const std::uint64_t offset = document_.text_.size();
    document_.text_ += value;
    return add(Kind::string, offset << 32U | value.size());
  }
  bool key(const std::string& value) { return string(value); }
  bool binary(const nlohmann::json::binary_t&) { return false; } // not in JSON text

  bool start_object(std::size_t) { return open(Kind::object); }
  bool start_array(std::size_t) { return open(Kind::array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& reason) {
    constexpr int number_overflow = 406; // the library's id for it
    error_ = {reason.id == number_overflow ? JsonError::Kind::out_of_range
                                           : JsonError::Kind::syntax,
              reason.what(), position, {}};
    return false;
  }

  std::expected<JsonDocument, JsonError> finish(bool complete) && {
    if (!complete)
      return std::unexpected(std::move(error_));
    return std::move(document_);
  }

private:
  bool add(Kind kind, std::uint64_t bits) {
    const auto end = static_cast<std::uint32_t>(document_.nodes_.size() + 1);
    document_.nodes_.push_back({bits, end, kind});
    return true;
  }
  bool open(Kind kind) {
    if (open_.size() == defaults::json_depth) {
      error_ = {JsonError::Kind::too_deep,
                "nested more than " + std::to_string(defaults::json_depth) + " levels",
                {},
                {}};
      return false;
    }
    open_.push_back(document_.nodes_.size());
    return add(kind, 0);
  }
  bool close() {
    document_.nodes_[open_.back()].end = static_cast<std::uint32_t>(document_.nodes_.size());
    open_.pop_back();
    return true;
  }

  JsonDocument document_;
  std::vector<std::size_t> open_; ///< nodes whose end is not known yet
  JsonError error_;
};

std::expected<JsonDocument, JsonError> JsonDocument::parse(std::string_view text) {
  if (text.size() > std::numeric_limits<std::uint32_t>::max())
    return std::unexpected(JsonError{JsonError::Kind::too_large, "4 GiB or more", {}, {}});
  // The library's parser skips a byte order mark and takes a NUL for the end of the input.
  if (text.starts_with("\xEF\xBB\xBF"))
    return std::unexpected(JsonError{JsonError::Kind::syntax, "byte order mark", 0, {}});
  if (const auto nul = text.find('\0'); nul != std::string_view::npos)
    return std::unexpected(JsonError{JsonError::Kind::syntax, "NUL byte", nul, {}});
  JsonDocumentBuilder builder;
  const bool complete = nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return std::move(builder).finish(complete);
}

std::optional<bool> JsonValue::as_boolean() const noexcept {
  if (node().kind != Kind::boolean)
    return std::nullopt;
  return node().bits != 0;
}

std::optional<double> JsonValue::as_floating() const noexcept {
  switch (node().kind) {
  case Kind::unsigned_integer:
    return static_cast<double>(node().bits);
  case Kind::negative_integer:
    return static_cast<double>(static_cast<std::int64_t>(node().bits));
  case Kind::floating:
    return std::bit_cast<double>(node().bits);
  default:
    return std::nullopt;
  }
}

std::optional<std::string_view> JsonValue::as_string() const noexcept {
  if (node().kind != Kind::string)
    return std::nullopt;
  return text();
}

} // namespace datastream
