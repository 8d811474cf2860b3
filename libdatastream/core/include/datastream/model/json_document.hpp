#pragma once
/// JSON as it was read, before anybody says what it means: members in order with duplicates kept,
/// integers apart from other numbers. What decodes JSON in this library decodes from here.

#include <datastream/model/json_error.hpp>

#include <nlohmann/json_fwd.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace datastream {

class JsonValue;

/// One JSON document. Takes 16 bytes per value and key, plus the text of its strings, whatever
/// the input is; at most `defaults::json_depth` levels.
///
/// Thread safety: immutable; may be read from all threads.
class JsonDocument {
public:
  /// Reads exactly one document, with white space around it. Text is UTF-8 without a byte order
  /// mark; integers beyond 64 bits become floating numbers. Never throws on odd input.
  /// Errors: `syntax`, `too_deep`, `too_large`, `out_of_range` (1e400).
  static std::expected<JsonDocument, JsonError> parse(std::string_view text);

  /// The outermost value. The document must outlive it.
  JsonValue root() const noexcept;

private:
  friend class JsonValue;
  friend class JsonDocumentBuilder;

  enum class Kind : std::uint8_t {
    null,
    boolean,
    unsigned_integer,
    negative_integer,
    floating,
    string,
    array,
    object,
  };
  /// A value, or an object's key in front of its value, in the order of the text.
  struct Node {
    std::uint64_t bits; ///< the number, or offset << 32 | length of a string in `text_`
    std::uint32_t end;  ///< index behind the last node inside this one
    Kind kind;
  };

  JsonDocument() = default;

  std::vector<Node> nodes_;
  std::string text_;
};

/// One value inside a document, which must outlive it. Typed access answers nothing when the
/// value has another type or lies out of range; nothing is ever narrowed or converted silently.
class JsonValue {
public:
  class Items;
  class Members;

  bool is_null() const noexcept { return node().kind == Kind::null; }
  bool is_number() const noexcept {
    return node().kind >= Kind::unsigned_integer && node().kind <= Kind::floating;
  }
  bool is_integer() const noexcept { return is_number() && node().kind != Kind::floating; }
  bool is_array() const noexcept { return node().kind == Kind::array; }
  bool is_object() const noexcept { return node().kind == Kind::object; }

  std::optional<bool> as_boolean() const noexcept;
  /// An integer of this type. 4.0 is not an integer.
  template <std::integral T>
  std::optional<T> as_integer() const noexcept {
    if (node().kind == Kind::unsigned_integer && std::in_range<T>(node().bits))
      return static_cast<T>(node().bits);
    if (node().kind == Kind::negative_integer &&
        std::in_range<T>(static_cast<std::int64_t>(node().bits)))
      return static_cast<T>(static_cast<std::int64_t>(node().bits));
    return std::nullopt;
  }
  /// Any number, integers included.
  std::optional<double> as_floating() const noexcept;
  std::optional<std::string_view> as_string() const noexcept;

  /// The elements of an array; none for any other value.
  Items items() const noexcept;
  /// The members of an object, in order, duplicates kept; none for any other value.
  Members members() const noexcept;

  /// The same as a value of the JSON library. Of members with the same key the last one wins.
  void copy_to(nlohmann::json& out) const;

private:
  friend class JsonDocument;
  using Kind = JsonDocument::Kind;

  JsonValue(const JsonDocument& document, std::uint32_t index) noexcept
      : document_(&document), index_(index) {}
  const JsonDocument::Node& node() const noexcept { return document_->nodes_[index_]; }
  std::string_view text() const noexcept {
    return std::string_view(document_->text_)
        .substr(node().bits >> 32U, node().bits & std::numeric_limits<std::uint32_t>::max());
  }

  const JsonDocument* document_;
  std::uint32_t index_;
};

/// A range of `JsonValue`.
class JsonValue::Items {
public:
  class Iterator {
  public:
    explicit Iterator(JsonValue value) noexcept : value_(value) {}
    JsonValue operator*() const noexcept { return value_; }
    Iterator& operator++() noexcept {
      value_.index_ = value_.node().end;
      return *this;
    }
    bool operator==(const Iterator& other) const noexcept {
      return value_.index_ == other.value_.index_;
    }

  private:
    JsonValue value_;
  };

  Items(JsonValue first, JsonValue last) noexcept : first_(first), last_(last) {}
  Iterator begin() const noexcept { return Iterator(first_); }
  Iterator end() const noexcept { return Iterator(last_); }

private:
  JsonValue first_;
  JsonValue last_;
};

/// A range of keys and values.
class JsonValue::Members {
public:
  struct Member {
    std::string_view key;
    JsonValue value;
  };
  class Iterator {
  public:
    explicit Iterator(JsonValue key) noexcept : key_(key) {}
    Member operator*() const noexcept {
      return {key_.text(), JsonValue(*key_.document_, key_.index_ + 1)};
    }
    Iterator& operator++() noexcept {
      key_.index_ = key_.document_->nodes_[key_.index_ + 1].end;
      return *this;
    }
    bool operator==(const Iterator& other) const noexcept {
      return key_.index_ == other.key_.index_;
    }

  private:
    JsonValue key_;
  };

  Members(JsonValue first, JsonValue last) noexcept : first_(first), last_(last) {}
  Iterator begin() const noexcept { return Iterator(first_); }
  Iterator end() const noexcept { return Iterator(last_); }

private:
  JsonValue first_;
  JsonValue last_;
};

inline JsonValue JsonDocument::root() const noexcept {
  return JsonValue(*this, 0);
}

inline JsonValue::Items JsonValue::items() const noexcept {
  const JsonValue behind(*document_, node().end);
  return {is_array() ? JsonValue(*document_, index_ + 1) : behind, behind};
}

inline JsonValue::Members JsonValue::members() const noexcept {
  const JsonValue behind(*document_, node().end);
  return {is_object() ? JsonValue(*document_, index_ + 1) : behind, behind};
}

} // namespace datastream
