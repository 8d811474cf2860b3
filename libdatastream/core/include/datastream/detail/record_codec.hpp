#pragma once
/// What `DATASTREAM_RECORD` generates from: one pair of functions that follows the types of a
/// record's fields, for writing text and for reading a parsed document.

#include <datastream/model/json_document.hpp>
#include <datastream/model/json_error.hpp>
#include <datastream/model/json_text.hpp>

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace datastream::detail {

/// One field: its key as it stands in JSON text, and where it lies in the struct.
template <class Owner, class Member>
struct RecordField {
  std::string_view key; ///< `"name":`
  Member Owner::*member;

  constexpr RecordField(std::string_view json_key, Member Owner::*pointer)
      : key(json_key), member(pointer) {}
  constexpr std::string_view name() const { return key.substr(1, key.size() - 3); }
};

/// The fields of a record, found by the macro's function beside the struct.
template <class R>
constexpr auto fields_of() -> decltype(datastream_record_fields(static_cast<const R*>(nullptr))) {
  return datastream_record_fields(static_cast<const R*>(nullptr));
}

/// A struct whose fields were listed with `DATASTREAM_RECORD`.
template <class R>
concept RecordPart = requires { fields_of<R>(); };

template <class T, class... Ts>
constexpr bool is_any_of = (std::same_as<T, Ts> || ...);

/// Integers in the sense of numbers: characters are none, and `bool` is a type of its own.
template <class T>
concept RecordInteger =
    std::integral<T> && !is_any_of<T, bool, char, wchar_t, char8_t, char16_t, char32_t>;

template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;
template <class T>
constexpr bool is_vector = false;
template <class T>
constexpr bool is_vector<std::vector<T>> = true;
template <class T>
constexpr bool is_map = false;
template <class T>
constexpr bool is_map<std::map<std::string, T>> = true;
template <class T>
constexpr bool is_unsupported = false;

class RecordCodec {
public:
  /// Writes a value. Structs and containers below `levels` levels become `null`, which bounds the
  /// recursion of records that contain themselves.
  template <class T>
  static void append(std::string& out, const T& value, std::size_t levels) {
    if constexpr (std::same_as<T, bool>) {
      out += value ? "true" : "false";
    } else if constexpr (RecordInteger<T>) {
      using Widest = std::conditional_t<std::signed_integral<T>, std::int64_t, std::uint64_t>;
      append_json_integer(out, Widest{value});
    } else if constexpr (std::same_as<T, float> || std::same_as<T, double>) {
      append_json_floating(out, value);
    } else if constexpr (std::same_as<T, std::string>) {
      append_json_string(out, value);
    } else if constexpr (std::same_as<T, nlohmann::json>) {
      append_json(out, value, levels);
    } else if constexpr (is_optional<T>) {
      if (value)
        append(out, *value, levels);
      else
        out += "null";
    } else if (levels == 0) {
      out += "null";
    } else if constexpr (is_vector<T>) {
      append_items(out, value, levels - 1);
    } else if constexpr (is_map<T>) {
      append_map(out, value, levels - 1);
    } else if constexpr (RecordPart<T>) {
      append_fields(out, value, levels - 1);
    } else {
      static_assert(is_unsupported<T>, "this type cannot be a field of a record");
    }
  }

  using Result = std::expected<void, JsonError>;

  /// Reads a value over its default.
  template <class T>
  static Result read(JsonValue in, T& out) {
    if constexpr (std::same_as<T, bool>) {
      return assign(in.as_boolean(), out, in, "expected true or false");
    } else if constexpr (RecordInteger<T>) {
      return assign(in.as_integer<T>(), out, in,
                    std::signed_integral<T> ? "expected an integer that fits"
                                            : "expected an unsigned integer that fits");
    } else if constexpr (std::same_as<T, double>) {
      return assign(in.as_floating(), out, in, "expected a number");
    } else if constexpr (std::same_as<T, float>) {
      return assign(as_float(in), out, in, "expected a number that fits");
    } else if constexpr (std::same_as<T, std::string>) {
      return assign(in.as_string(), out, in, "expected a string");
    } else if constexpr (std::same_as<T, nlohmann::json>) {
      in.copy_to(out);
      return {};
    } else if constexpr (is_optional<T>) {
      out.reset();
      return in.is_null() ? Result() : read(in, out.emplace());
    } else if constexpr (is_vector<T>) {
      return read_items(in, out);
    } else if constexpr (is_map<T>) {
      return read_map(in, out);
    } else if constexpr (RecordPart<T>) {
      return read_fields(in, out);
    } else {
      static_assert(is_unsupported<T>, "this type cannot be a field of a record");
    }
  }

private:
  template <class T>
  static void append_items(std::string& out, const std::vector<T>& items, std::size_t levels) {
    out += '[';
    for (const T& item : items) {
      append(out, item, levels);
      out += ',';
    }
    close_json(out, ']');
  }

  template <class T>
  static void append_map(std::string& out, const std::map<std::string, T>& map,
                         std::size_t levels) {
    out += '{';
    for (const auto& [key, value] : map) {
      append_json_string(out, key);
      out += ':';
      append(out, value, levels);
      out += ',';
    }
    close_json(out, '}');
  }

  template <RecordPart R>
  static void append_fields(std::string& out, const R& record, std::size_t levels) {
    out += '{';
    std::apply(
        [&](const auto&... field) {
          ((out += field.key, append(out, record.*field.member, levels), out += ','), ...);
        },
        fields_of<R>());
    close_json(out, '}');
  }

  static JsonError error(JsonError::Kind kind, std::string_view reason) {
    return {kind, std::string(reason), {}, {}};
  }

  template <class From, class T>
  static Result assign(const std::optional<From>& value, T& out, JsonValue in,
                       std::string_view reason) {
    if (!value) {
      const bool only_too_large = (RecordInteger<T> && in.is_integer()) ||
                                  (std::floating_point<T> && in.is_number());
      return std::unexpected(error(only_too_large ? JsonError::Kind::out_of_range
                                                  : JsonError::Kind::wrong_type,
                                   reason));
    }
    out = *value;
    return {};
  }

  static std::optional<float> as_float(JsonValue in) {
    const std::optional<double> value = in.as_floating();
    if (!value || std::abs(*value) > double{std::numeric_limits<float>::max()})
      return std::nullopt;
    return static_cast<float>(*value);
  }

  template <class T>
  static Result read_items(JsonValue in, std::vector<T>& out) {
    if (!in.is_array())
      return std::unexpected(error(JsonError::Kind::wrong_type, "expected an array"));
    out.clear();
    for (const JsonValue item : in.items()) {
      T value{}; // not in place: std::vector<bool> has no elements to refer to
      if (Result result = read(item, value); !result)
        return std::unexpected(
            std::move(result.error()).in('[' + std::to_string(out.size()) + ']'));
      out.push_back(std::move(value));
    }
    return {};
  }

  template <class T>
  static Result read_map(JsonValue in, std::map<std::string, T>& out) {
    if (!in.is_object())
      return std::unexpected(error(JsonError::Kind::wrong_type, "expected an object"));
    out.clear();
    for (const auto [key, item] : in.members()) {
      T value{};
      if (Result result = read(item, value); !result)
        return std::unexpected(std::move(result.error()).in(key));
      out.insert_or_assign(std::string(key), std::move(value));
    }
    return {};
  }

  template <RecordPart R>
  static Result read_fields(JsonValue in, R& out) {
    if (!in.is_object())
      return std::unexpected(error(JsonError::Kind::wrong_type, "expected an object"));
    constexpr auto fields = fields_of<R>();
    std::array<bool, std::tuple_size_v<decltype(fields)>> seen{};
    for (const auto member : in.members()) {
      Result result;
      std::apply(
          [&](const auto&... field) {
            std::size_t number = 0;
            static_cast<void>((... || (field.name() == member.key
                                           ? (result = read_field(field, member.value, out,
                                                                  seen[number]),
                                              true)
                                           : (++number, false))));
          },
          fields);
      if (!result)
        return result;
    }
    return {};
  }

  template <class Field, class R>
  static Result read_field(const Field& field, JsonValue in, R& out, bool& seen) {
    if (std::exchange(seen, true))
      return std::unexpected(
          error(JsonError::Kind::duplicate_field, "occurs twice").in(field.name()));
    Result result = read(in, out.*field.member);
    if (!result)
      return std::unexpected(std::move(result.error()).in(field.name()));
    return result;
  }
};

} // namespace datastream::detail
